"""`octoc init --from octopus`: an export becomes a workspace that grants what it does, whole or not at all."""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from octoc.compiler.read.fences import split

Run = Callable[..., Any]

EXPORT: dict[str, Any] = {
    "tenants": [{"tenantId": "acme", "name": "Acme Ltd", "plan": "gold"}],
    "areas": [
        {
            "areaId": 1,
            "tenantId": "acme",
            "name": "Finance & Treasury",
            "description": "The books",
            "isActive": True,
            "agents": [7, 8],
            "userGroups": [100, 101],
            "brandingName": "Acme Money",
            "defaultAgentId": 7,
        },
        {"areaId": 2, "tenantId": "acme", "name": "HR", "agents": [{"agentId": 9, "name": "Ann"}, 8]},
        {"areaId": 3, "tenantId": "acme", "name": "Old", "isActive": False, "agents": [11]},
    ],
    "toolGroups": [
        {
            "id": 3,
            "areaId": 1,
            "name": "Ledger",
            "description": "The ledger",
            "toolNames": ["ledger_read", "ledger_post"],
        },
        {"id": 4, "name": "Common", "toolNames": ["search"]},
        {"id": 5, "areaId": 2, "name": "Ledger", "toolNames": ["payroll"]},
        {"id": 6, "areaId": 2, "name": "Spare", "toolNames": ["spare"]},
        {"id": 8, "areaId": 2, "name": "Empty", "toolNames": []},
    ],
    "agents": [
        {
            "agentId": 7,
            "name": "CFO Bot",
            "description": "Closes the books",
            "systemPrompt": "You close the books.\n\nDaily.",
            "model": "claude-sonnet-4-5",
            "mcpServers": [
                {
                    "name": "orders",
                    "baseUrl": "https://tools.acme.example",
                    "credentialId": 12,
                    "timeoutMs": 45000,
                    "toolFilter": ["find_order"],
                }
            ],
        },
        {
            "agentId": 8,
            "name": "Auditor",
            "systemPrompt": "You audit.",
            "mcpServers": [
                {"name": "orders", "baseUrl": "https://tools.acme.example/", "credentialId": 12},
                {"name": "Slow Box", "baseUrl": "https://slow.acme.example", "enabled": False},
            ],
        },
        {"agentId": 9, "name": "Ann", "systemPrompt": "You answer."},
        {"agentId": 10, "name": "Free", "systemPrompt": "You roam.", "isActive": False, "temperature": 0.2},
        {
            "agentId": 11,
            "name": "Gone",
            "systemPrompt": "You went.",
            "mcpServers": [{"name": "crm", "baseUrl": "https://crm.acme.example"}],
        },
        {"agentId": 12, "name": "CFO bot"},
    ],
    "assignments": [
        {"agentId": 7, "toolGroupId": 3, "enabled": True},
        {"agentId": 8, "toolGroupId": 3, "enabled": False},
        {"agentId": 9, "toolGroupId": 5},
        {"agentId": 7, "toolGroupId": 4},
        {"agentId": 9, "toolGroupId": 4},
        {"agentId": 9, "toolGroupId": 8},
    ],
    "aiFunctions": [{"name": "tax", "code": "function execute(){}"}],
}


@pytest.fixture
def start(octoc: Run, tmp_path: Path) -> Run:
    """A function that writes an export and runs `octoc init` on it in `tmp_path / "ws"`."""
    (tmp_path / "ws").mkdir()

    def run(export: Any) -> Any:
        path = tmp_path / "export.json"
        path.write_text(export if isinstance(export, str) else json.dumps(export, indent=1), encoding="utf-8")
        return octoc("init", "--from", "octopus", str(path), "--workspace", str(tmp_path / "ws"), "--no-pin")

    return run


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    """The folder of the workspace."""
    return tmp_path / "ws"


def changed(**changes: Any) -> dict[str, Any]:
    """Return the export with other lists."""
    return {**copy.deepcopy(EXPORT), **changes}


def toml(path: Path) -> dict[str, Any]:
    """Return the values of a file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def files(folder: Path) -> list[str]:
    """Return every file below a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_areas_groups_and_grants_become_scopes(start: Run, ws: Path) -> None:
    """Each area has a file with its groups and grants; an agent in two lives in the first and is shared."""
    done = start(EXPORT)
    assert (done.status, done.err) == (0, "")
    assert toml(ws / "scopes/tenants.toml") == {"tenants": {"acme": {"description": "Acme Ltd"}}}
    assert toml(ws / "scopes/finance-treasury.toml") == {
        "areas": {
            "finance-treasury": {
                "tenant": "acme",
                "description": "The books",
                "agents": ["cfo-bot", "auditor"],
                "default_agent": "cfo-bot",
            }
        },
        "groups": {
            "ledger": {
                "area": "finance-treasury",
                "description": "The ledger",
                "tools": ["octopus-tools/ledger_read", "octopus-tools/ledger_post"],
            }
        },
        "grants": [
            {"agents": ["cfo-bot"], "groups": ["ledger"]},
            {"agents": ["auditor"], "groups": ["ledger"], "enabled": False},
        ],
    }
    hr = toml(ws / "scopes/hr.toml")
    assert hr["areas"] == {"hr": {"tenant": "acme", "agents": ["ann"], "shared": ["auditor"]}}
    assert hr["groups"]["spare"]["enabled"] is False
    assert toml(ws / "scopes/old.toml")["areas"]["old"]["enabled"] is False


def test_what_is_of_no_area_has_a_file(start: Run, ws: Path) -> None:
    """Global groups, servers of agents, and agents of no area, who stay their tenant's, are in `scopes/global.toml`."""
    assert start(EXPORT).status == 0
    assert toml(ws / "scopes/global.toml") == {
        "areas": {"acme-others": {"tenant": "acme", "agents": ["free", "cfo-bot-2"]}},
        "groups": {
            "common": {"tools": ["octopus-tools/search"]},
            "gone-crm": {"agent": "gone", "tools": ["crm/*"]},
        },
        "grants": [
            {"agents": ["cfo-bot", "ann"], "groups": ["common"]},
            {"agents": ["cfo-bot"], "tools": ["orders/find_order"]},
            {"agents": ["auditor"], "tools": ["orders/*"]},
        ],
        "overrides": {"free": {"enabled": False}},
    }


def test_nobody_has_what_is_not_granted(start: Run, ws: Path) -> None:
    """The profile is `deny`, the mode is left as it is without an export, and results are cut as Octopus cuts them."""
    assert start(EXPORT).status == 0
    settings = toml(ws / "octoc.toml")
    assert settings["scopes"] == {"profile": "deny"}
    assert settings["workspace"] == {"name": "ws", "mode": "development"}
    assert settings["results"] == {"profile": "octopus"}
    assert settings["mcp"] == {"files": ["octopus.mcp.json"]}


def test_servers_keep_their_credentials_by_id(start: Run, ws: Path) -> None:
    """One server for each address and credential, with the longest time-out; one that no agent has enabled is off."""
    assert start(EXPORT).status == 0
    assert json.loads((ws / "octopus.mcp.json").read_text(encoding="utf-8"))["mcpServers"] == {
        "orders": {
            "type": "rest",
            "url": "https://tools.acme.example",
            "auth": {"type": "bearer", "token": "${cred:12}"},
            "timeoutMs": 45000,
        },
        "slow-box": {"type": "rest", "url": "https://slow.acme.example", "enabled": False},
        "crm": {"type": "rest", "url": "https://crm.acme.example"},
        "octopus-tools": {
            "type": "rest",
            "url": "${OCTOPUS_TOOLS_URL}",
            "auth": {"type": "bearer", "token": "${OCTOPUS_TOOLS_TOKEN}"},
        },
    }


def test_agents_become_files(start: Run, ws: Path) -> None:
    """An agent's file has its name, description, model and prompt."""
    assert start(EXPORT).status == 0
    text = (ws / "agents/cfo-bot.md").read_text(encoding="utf-8")
    parts = split(text)
    assert parts is not None
    assert yaml.safe_load(text[parts.start : parts.end]) == {
        "name": "cfo-bot",
        "description": "Closes the books",
        "model": "claude-sonnet-4-5",
    }
    assert text[parts.body :].strip() == "You close the books.\n\nDaily."
    assert (ws / "agents/cfo-bot-2.md").is_file()


def test_nothing_is_dropped_without_a_word(start: Run, ws: Path) -> None:
    """What has no place is a comment in the file and a line in the report."""
    out = start(EXPORT).out
    finance = (ws / "scopes/finance-treasury.toml").read_text(encoding="utf-8")
    assert '# userGroups: [100, 101]\n# brandingName: "Acme Money"\n' in finance
    assert "# temperature: 0.2\n" in (ws / "agents/free.md").read_text(encoding="utf-8")
    assert '# aiFunctions: [{"name": "tax", ' in (ws / "octoc.toml").read_text(encoding="utf-8")
    assert "# It has no tools, and was assigned to ann.\n" in (ws / "scopes/hr.toml").read_text(encoding="utf-8")
    assert '# plan: "gold"' in (ws / "scopes/tenants.toml").read_text(encoding="utf-8")
    for line in (
        "note: `userGroups` of area `Finance & Treasury` has no place in octoc, and is a comment (octoc knows no ",
        "note: `temperature` of agent `Free` has no place",
        "note: `aiFunctions` has no place",
        "note: `plan` of tenant `Acme Ltd` has no place",
        "note: tool group `empty` has no tools",
        "note: tool group `spare` is not assigned to any agent",
        "note: agent `CFO bot` (12) is called `cfo-bot-2`",
        "note: tool group `Ledger` (5) is called `hr-ledger`",
        "note: server `slow-box` of agent `auditor` is switched off",
        "note: agent `cfo-bot-2` has no prompt in the export",
    ):
        assert line in out


def test_a_secret_in_a_field_without_a_place_is_masked(start: Run, ws: Path) -> None:
    """What looks like a secret is in no file, and the report says that it is masked."""
    secret = "hunter2hunter2X"
    done = start(changed(areas=[{**EXPORT["areas"][0], "smtp": {"password": secret}}], toolGroups=[], assignments=[]))
    assert done.status == 0
    assert (
        "`smtp` of area `Finance & Treasury` has no place in octoc, and is a comment; what looks like a secret"
        in done.out
    )
    assert secret not in done.out + "".join(path.read_text(encoding="utf-8") for path in ws.rglob("*.*"))


def test_what_init_makes_is_sound(start: Run, octoc: Run, ws: Path) -> None:
    """The workspace has no error, before anything is recorded."""
    assert start(EXPORT).status == 0
    done = octoc("check", "--workspace", str(ws))
    assert (done.status, done.out) == (0, "")


def test_tools_that_are_recorded_are_found(start: Run, octoc: Run, ws: Path) -> None:
    """A tool of a group is on the one server that is recorded with it; check names tools that no server has."""
    servers = {"erp": {"command": "erp"}, "octopus-tools": {"command": "host"}}
    (ws / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")

    def record(server: str, *names: str) -> None:
        dump = ws.parent / f"{server}.json"
        tools = [{"name": name, "description": "Does it", "inputSchema": {"type": "object"}} for name in names]
        dump.write_text(json.dumps({"tools": tools}), encoding="utf-8")
        assert octoc("pin", server, "--from", str(dump), "--workspace", str(ws)).status == 0

    record("erp", "ledger_read", "ledger_post", "search", "spare")
    assert start(EXPORT).status == 0
    assert toml(ws / "octoc.toml")["mcp"] == {"files": [".mcp.json", "octopus.mcp.json"]}
    ledger = toml(ws / "scopes/finance-treasury.toml")["groups"]["ledger"]
    assert ledger["tools"] == ["erp/ledger_read", "erp/ledger_post"]
    assert "octopus-tools" not in json.loads((ws / "octopus.mcp.json").read_text(encoding="utf-8"))["mcpServers"]
    assert octoc("check", "--workspace", str(ws)).status == 0
    record("octopus-tools", "payrol")
    done = octoc("check", "--workspace", str(ws))
    assert done.status == 1
    assert "tool `octopus-tools/payroll`" in done.out
    assert "did you mean `octopus-tools/payrol`?" in done.out


def test_lists_may_stand_by_id(start: Run, ws: Path) -> None:
    """Groups by area and assignments by agent, as the API lists them, mean the same."""
    by_area: dict[str, list[Any]] = {}
    for group in EXPORT["toolGroups"]:
        if "areaId" in group:
            by_area.setdefault(str(group["areaId"]), []).append({k: v for k, v in group.items() if k != "areaId"})
    by_agent: dict[str, list[Any]] = {}
    for one in EXPORT["assignments"]:
        if one["toolGroupId"] != 4:
            by_agent.setdefault(str(one["agentId"]), []).append({k: v for k, v in one.items() if k != "agentId"})
    assert start(changed(toolGroups=by_area, assignments=by_agent)).status == 0
    assert toml(ws / "scopes/finance-treasury.toml")["grants"][0] == {"agents": ["cfo-bot"], "groups": ["ledger"]}
    assert toml(ws / "scopes/hr.toml")["grants"] == [{"agents": ["ann"], "groups": ["hr-ledger"]}]


def test_a_group_of_another_area_is_told(start: Run, octoc: Run, ws: Path) -> None:
    """An agent with a group of an area that it is not in is written down, and said to be refused by check."""
    done = start(changed(assignments=[{"agentId": 9, "toolGroupId": 3}]))
    assert done.status == 0
    assert "note: agent `ann` has tool group `ledger`, and is not in its area `finance-treasury`" in done.out
    assert toml(ws / "scopes/finance-treasury.toml")["grants"] == [{"agents": ["ann"], "groups": ["ledger"]}]
    checked = octoc("check", "--workspace", str(ws))
    assert checked.status == 1
    assert "scopes/finance-treasury.toml:" in checked.out


AREA, AGENT, AGENTS = EXPORT["areas"][0], EXPORT["agents"][0], EXPORT["agents"]
GROUP = {"id": 3, "name": "x", "toolNames": ["y"]}
OTHER = {"areaId": 5, "tenantId": "other", "name": "Other", "agents": []}
SECRET = {"name": "x", "baseUrl": "https://me:hunter2@tools.acme.example/v1"}
TWICE = [{"agentId": 7, "toolGroupId": 3}, {"agentId": 7, "toolGroupId": 3, "enabled": False}]


def group(**values: Any) -> dict[str, Any]:
    """Return the export with one tool group, which is assigned to no agent."""
    return changed(toolGroups=[{**GROUP, **values}], assignments=[])


@pytest.mark.parametrize(
    "export, at, message",
    [
        ('{"areas": [\n', '{"areas": [', "not JSON: the file ends too early"),
        ("[]", "[]", "expected an object"),
        ("{}", None, "the file has no `areas`"),
        (changed(areas=[{"areaId": 1}]), "{", "`areas[0]` has no `name`"),
        (changed(areas=[{"name": "HR"}]), "{", "`areas[0]` has no `areaId`"),
        (changed(areas=[{**AREA, "id": 2}]), '"id": 2', "has two ids: `areaId` and `id` differ"),
        (changed(areas=[AREA, AREA]), '"areaId": 1,', "area `1` is there twice"),
        (changed(areas=[{**AREA, "agents": [7, 70]}]), "70", "`areas[0].agents[1]` is `70`, and the"),
        (changed(areas=[{**AREA, "agents": [{}]}]), "{}", "`areas[0].agents[0]` has no `agentId`"),
        (changed(areas=[{**AREA, "defaultAgentId": 9}]), '"defaultAgentId": 9', "agent `9`, which is not in the area"),
        (changed(areas=[{**AREA, "tenantId": "amce"}]), '"tenantId": "amce"', "the export has no tenant of this id"),
        (changed(assignments=[{"toolGroupId": 3}]), "{", "`assignments[0]` has no `agentId`"),
        (changed(assignments=[{"agentId": 7, "toolGroupId": 33}]), '"toolGroupId": 33', "no tool group of this id"),
        (changed(assignments={"8": [{"agentId": 7, "toolGroupId": 3}]}), '"agentId": 7', "stands under agent `8`"),
        (changed(assignments=TWICE), "{", "assigned tool group `3` twice, once enabled and once not"),
        (group(areaId=9), '"areaId": 9', "no area of this id"),
        (changed(toolGroups={"1": [{**GROUP, "areaId": 2}]}), '"areaId": 2', "stands under area `1`"),
        (group(toolNames=["ledger_*"]), '"ledger_*"', "`*` has no meaning there"),
        (changed(agents=[{**AGENT, "mcpServers": [{"name": "x"}]}, *AGENTS[1:]]), "{", "has no `baseUrl`"),
        (group(area_id=1), '"area_id": 1', "`toolGroups[0].area_id` is not what Octopus calls it"),
        (changed(tool_groups=[]), '"tool_groups"', "`tool_groups` is not what Octopus calls it"),
        (changed(agents=[{**AGENT, "mcpServers": [SECRET]}, *AGENTS[1:]]), '"baseUrl"', "has a user or password"),
        (changed(agents=[{**AGENT, "systemPrompt": "\0"}, *AGENTS[1:]]), '"systemPrompt"', "has a NUL"),
        (changed(tenants=[{"tenantId": "acme"}, {"tenantId": "b"}]), "{", "agent `Free` has no `tenantId`, and"),
        (changed(areas=[{**AREA, "tenantId": None}], tenants=[{"id": "acme"}, {"id": "b"}]), "{", "area `Fi"),
    ],
)  # fmt: skip
def test_a_bad_export_says_where_and_writes_nothing(
    start: Run, ws: Path, export: Any, at: str | None, message: str
) -> None:
    """A mistake is reported at its place with exit status 1, and nothing is written."""
    done = start(export)
    assert (done.status, done.out) == (1, "")
    (told,) = [part for part in done.err.split("error[") if message in part.partition("\n")[0]][:1]
    found = re.search(r"--> .*export\.json(?::(\d+):\d+)?\n", told)
    assert found is not None
    lines = (ws.parent / "export.json").read_text(encoding="utf-8").splitlines()
    assert (found[1] is None) == (at is None)
    assert at is None or lines[int(found[1]) - 1].strip().startswith(at)
    assert "help: " in told or isinstance(export, str)
    assert done.err.endswith("nothing was written\n")
    assert "hunter2" not in done.err
    assert files(ws) == []


@pytest.mark.parametrize("data", [b"\xff\xfe{\x00}\x00", b"\x00\x01", b'{"areas": "\xff"}', b""])
def test_an_export_that_is_not_text_is_reported(octoc: Run, tmp_path: Path, ws: Path, data: bytes) -> None:
    """Bytes that are not UTF-8 text are reported with exit status 1, and nothing is written."""
    (tmp_path / "export.json").write_bytes(data)
    ws.mkdir()
    done = octoc("init", "--from", "octopus", str(tmp_path / "export.json"), "--workspace", str(ws))
    assert (done.status, done.out) == (1, "")
    assert "export.json" in done.err
    assert files(ws) == []


def test_check_knows_an_export(octoc: Run, tmp_path: Path) -> None:
    """`octoc check` takes an export for what it is, and finds in it what `init` refuses."""
    path = tmp_path / "from-production.json"
    path.write_text(json.dumps(EXPORT), encoding="utf-8")
    assert octoc("check", str(path)).status == 0
    path.write_text(json.dumps(changed(assignments=[{"agentId": 7, "toolGroupId": 33}])), encoding="utf-8")
    done = octoc("check", str(path))
    assert done.status == 1
    assert "the export has no tool group of this id" in done.out


def test_an_agent_stays_in_its_tenant(start: Run, ws: Path) -> None:
    """An agent of one tenant in an area of another is an error that shows both."""
    export = changed(tenants=[{"tenantId": "acme"}, {"tenantId": "other"}])
    export["agents"] = [{**agent, "tenantId": "acme"} for agent in export["agents"]]
    export["areas"].append({**OTHER, "agents": [7]})
    done = start(export)
    assert done.status == 1
    assert "agent `CFO Bot` is of tenant `acme`, and in an area of tenant `other`" in done.err
    assert "the area has it here" in done.err
    assert files(ws) == []


@pytest.mark.parametrize("there", ["octoc.toml", "scopes/hr.toml", "agents/ann.md", "octopus.mcp.json"])
def test_nothing_is_overwritten(start: Run, ws: Path, there: str) -> None:
    """Where one of the files is there, it stays as it is and no other is written."""
    (ws / there).parent.mkdir(exist_ok=True)
    (ws / there).write_text("{}", encoding="utf-8")
    done = start(EXPORT)
    assert (done.status, done.out) == (1, "")
    assert f"`{there}` exists already" in done.err
    assert files(ws) == [there]
    assert (ws / there).read_text(encoding="utf-8") == "{}"


def test_a_failure_half_way_leaves_nothing(start: Run, ws: Path) -> None:
    """A folder that cannot be made ends it, and what was written before is gone again."""
    (ws / "agents").write_text("a file in the way", encoding="utf-8")
    done = start(EXPORT)
    assert (done.status, done.out) == (1, "")
    assert "no workspace can be made in `ws`" in done.err
    assert files(ws) == ["agents"]
    assert not (ws / "scopes").exists()


@pytest.mark.parametrize("words", [["--from", "octopus"], ["EXPORT"], ["--from", "octo", "EXPORT"]])
def test_the_system_and_the_export_belong_together(octoc: Run, tmp_path: Path, words: list[str]) -> None:
    """One without the other is a mistake of usage."""
    export = tmp_path / "export.json"
    export.write_text(json.dumps(EXPORT), encoding="utf-8")
    words = [str(export) if word == "EXPORT" else word for word in words]
    assert octoc("init", *words, "--workspace", str(tmp_path)).status == 2
    assert files(tmp_path) == ["export.json"]
