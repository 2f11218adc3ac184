"""`octoc init --from octopus`, as laws: what is written can be read, and grants what the export did."""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from octoc.cli.root import root as cli
from octoc.compiler.check.stage import check_values
from octoc.compiler.inputs.octopus_export import OCTOPUS_EXPORT
from octoc.compiler.migrate.octopus import migrate
from octoc.compiler.migrate.surroundings import Surroundings
from octoc.compiler.model.documents import FoundFile
from octoc.compiler.read.fences import split
from octoc.diagnostics.model import DiagnosticSink

WORDS = st.text(max_size=12) | st.sampled_from(
    ["a", "A", "tenants", "global", "x: y", 'q"', "---", "# no", "é", "日本"]
)
VALUES = st.none() | st.booleans() | st.integers(-5, 5) | WORDS | st.lists(WORDS, max_size=2)


@given(data=st.data())
def test_any_words_make_files_that_can_be_read(data: st.DataObject) -> None:
    """Whatever names, texts and unknown fields are, the files have exactly these, and no two are one."""
    word = WORDS.filter(lambda text: text.strip() != "" and "*" not in text)
    areas = [
        {
            "areaId": number,
            "name": data.draw(word),
            "description": data.draw(WORDS),
            "odd": data.draw(VALUES),
            "agents": [number],
        }
        for number in range(3)
    ]
    agents = [
        {
            "agentId": number,
            "name": data.draw(word),
            "systemPrompt": data.draw(WORDS).replace("\0", ""),
            "description": data.draw(WORDS),
            data.draw(word): data.draw(VALUES),
        }
        for number in range(3)
    ]
    groups = [
        {"id": number, "areaId": number, "name": data.draw(word), "toolNames": [data.draw(word)]} for number in range(3)
    ]
    assignments = [{"agentId": number, "toolGroupId": number} for number in range(3)]
    export = {"areas": areas, "agents": agents, "toolGroups": groups, "assignments": assignments}
    file = FoundFile(path=Path("e.json"), display="e.json", kind=OCTOPUS_EXPORT)
    if check_values(file, export, DiagnosticSink()) is None:
        return
    made = migrate(export, Surroundings(name="ws"))
    tables = [tomllib.loads(text) for name, text in made.files.items() if name.startswith("scopes/")]
    found = {kind: [name for table in tables for name in table.get(kind, {})] for kind in ("areas", "groups")}
    assert {kind: len(set(names)) for kind, names in found.items()} == {"areas": 3, "groups": 3}
    prompts = []
    for name, text in made.files.items():
        if name.startswith("agents/"):
            parts = split(text)
            assert parts is not None
            assert set(yaml.safe_load(text[parts.start : parts.end])) == {"name", "description"} | (
                {"model"} & {key for agent in agents for key in agent}
            )
            prompts.append(text[parts.body :].strip())
    assert sorted(prompts) == sorted(str(agent["systemPrompt"]).strip() for agent in agents)
    assert tomllib.loads(made.files["octoc.toml"])["scopes"] == {"profile": "deny"}


def exported(data: st.DataObject) -> dict[str, Any]:
    """Return an export of two tenants, three areas and some agents, groups and assignments without a mistake."""

    def pick(options: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(options))

    def flip() -> bool:
        return data.draw(st.booleans())

    areas: list[dict[str, Any]] = [
        {"areaId": n, "tenantId": "a" if n < 2 else "b", "name": "Area", "isActive": flip()} for n in range(3)
    ]
    agents: list[dict[str, Any]] = []
    for number in range(4):
        tenant = pick(["a", "b"])
        servers = [
            {"name": "own", "baseUrl": f"https://{pick('xy')}.example", "toolFilter": pick([None, ["t"], ["u"]])}
        ]
        agents.append({
            "agentId": number,
            "tenantId": tenant,
            "name": pick(["Bot", "bot", "Other"]),
            "isActive": number != 3 or flip(),
            "mcpServers": servers if flip() else [],
        })  # fmt: skip
    for area in areas:
        area["agents"] = [a["agentId"] for a in agents if a["tenantId"] == area["tenantId"] and flip()]
    groups = [
        {
            "id": n,
            "areaId": pick([None, 0, 1, 2]),
            "name": "Group",
            "toolNames": data.draw(st.lists(st.sampled_from("pqrs"))),
        }
        for n in range(4)
    ]
    inside = {area["areaId"]: set(area["agents"]) for area in areas}
    assignments = [
        {"agentId": agent["agentId"], "toolGroupId": group["id"], "enabled": flip()}
        for group in groups
        for agent in agents
        if (group["areaId"] is None or agent["agentId"] in inside[group["areaId"]]) and flip()
    ]
    return {"areas": areas, "toolGroups": groups, "agents": agents, "assignments": assignments}


def reach(export: dict[str, Any], agent: dict[str, Any]) -> set[str] | None:
    """Return the bare names of what an agent has in Octopus, `*` for all of a server; None where it is off."""
    homes = [area for area in export["areas"] if agent["agentId"] in area["agents"]]
    if not agent["isActive"] or (homes and not any(area["isActive"] for area in homes)):
        return None
    on = {one["toolGroupId"] for one in export["assignments"] if one["agentId"] == agent["agentId"] and one["enabled"]}
    active = {None} | {area["areaId"] for area in homes if area["isActive"]}
    tools = {t for g in export["toolGroups"] if g["id"] in on and g["areaId"] in active for t in g["toolNames"]}
    return tools | {tool for server in agent["mcpServers"] for tool in server["toolFilter"] or ["*"]}


@settings(max_examples=12)
@given(data=st.data())
def test_each_agent_reaches_what_it_did(data: st.DataObject) -> None:
    """Whatever an export grants, each agent of the workspace reaches these tools and no others."""
    export = exported(data)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "export.json")
        path.write_text(json.dumps(export), encoding="utf-8")
        ws = Path(folder, "ws")
        ws.mkdir()
        made = CliRunner().invoke(cli, ["init", "--from", "octopus", str(path), "--workspace", str(ws), "--no-pin"])
        assert made.exit_code == 0, made.output
        done = CliRunner().invoke(cli, ["check", "--workspace", str(ws)])
        assert done.exit_code == 0, done.output
        called = {
            int(re.findall(r"Agent (\d+) of", text := file.read_text(encoding="utf-8"))[0]): re.findall(
                r"name: (\S+)", text
            )[0]
            for file in (ws / "agents").glob("*.md")
        }
        for agent in export["agents"]:
            name = called[agent["agentId"]]
            done = CliRunner().invoke(cli, ["scope", name, "--workspace", str(ws), "--json"])
            expected = reach(export, agent)
            if expected is None:
                assert done.exit_code != 0
                continue
            found = json.loads(done.stdout)
            assert {entry["tool"].partition("/")[2] for entry in found["tools"]} == expected
            assert found["tenants"] == [agent["tenantId"]]
