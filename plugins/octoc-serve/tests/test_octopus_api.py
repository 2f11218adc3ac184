"""Octopus's management API of tool groups, which the plugin `transport-rest` adds to the gateway."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from octoc.testing import WorkspaceBuilder
from octoc_serve.tokens import Tokens

SCOPES = """
[areas.finance]
description = "Accounting"
agents = ["cfo"]
shared = ["auditor"]

[areas.people]
agents = ["recruiter"]

[groups.ledger]
area = "finance"
description = "The general ledger"
tools = ["ledger/*"]

[groups.off]
area = "finance"
tools = ["ledger/read"]
enabled = false

[groups.closing]
agent = "cfo"
tools = ["mail/send"]

[groups.reading]
tools = ["docs/*"]

[[grants]]
agents = ["cfo", "auditor"]
groups = ["ledger", "off"]

[[grants]]
agents = "*"
groups = ["reading"]

[[deny]]
agents = ["auditor"]
tools = ["ledger/pay"]
"""
AREA = "/api/octopus/areas/{}/tool-groups"
AGENT = "/api/octopus/agents/{}/tool-groups"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle of three agents with tool groups, an area and a global one."""
    builder = WorkspaceBuilder(tmp_path / "ws", plugins={"use": ["transport-rest"]}, scopes={"profile": "deny"})
    builder.file("scopes/finance.toml", SCOPES)
    for server, tools in {"ledger": ["pay", "read"], "mail": ["send"], "docs": ["search"]}.items():
        builder.server(server, f"{server}-mcp").snapshot(server, tools)
    for agent in ("cfo", "recruiter"):
        builder.agent(agent, type="worker")
    builder.file("scopes/audit.toml", '[areas.audit]\nagents = ["auditor"]\n').agent("auditor", type="worker")
    outcome = builder.build()
    assert outcome.bundle is not None, outcome.diagnostics
    return outcome.bundle


def test_tool_groups_are_served_read_only(
    bundle: Path, tmp_path: Path, serve: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    """A token reads the groups of its agent and that agent's areas; other names do not exist, and POST is refused."""
    tokens = Tokens(tmp_path / "tokens.json")
    secrets = {agent: tokens.add(agent)[1] for agent in ("cfo", "auditor", "recruiter")}
    gateway = serve("--agents", "all", bundle=bundle)

    def read(agent: str, path: str, body: Any = None) -> tuple[int, dict[str, str], Any]:
        status, headers, text = ask(gateway.base + path, body, Authorization=f"Bearer {secrets[agent]}")
        return status, headers, json.loads(text)

    ledger = {"toolGroupId": "ledger", "name": "ledger", "description": "The general ledger"}
    both = ["ledger/pay", "ledger/read"]
    assert read("cfo", AREA.format("finance"))[2] == [{**ledger, "toolNames": both, "areaId": "finance"}]
    # `ledger/pay` is denied to the auditor.
    seen = {**ledger, "toolNames": ["ledger/read"], "areaId": "finance"}
    assert read("auditor", AREA.format("finance"))[2] == [seen]
    _, _, groups = read("cfo", AGENT.format("cfo"))
    assert [(one["agentId"], one["name"], one["toolNames"], one["enabled"]) for one in groups] == [
        ("cfo", "closing", ["mail/send"], True),
        ("cfo", "ledger", both, True),
        ("cfo", "reading", ["docs/search"], True),
    ]
    schema = json.loads((Path(__file__).parents[3] / "schemas/octopus-export.v1.json").read_text(encoding="utf-8"))
    for kind in ("group", "assignment"):
        for group in groups:
            jsonschema.validate(group, {**schema, "$ref": f"#/$defs/{kind}", "required": []})

    hidden = [read("recruiter", path) for path in (AREA.format("finance"), AGENT.format("cfo"))]
    assert [status for status, _, _ in hidden] == [404, 404]
    assert hidden[0][2] == {"error": "not_found", "message": "there is no area `finance`"}
    assert read("recruiter", AREA.format("nowhere"))[2]["message"] == "there is no area `nowhere`"
    assert read("recruiter", "/api/octopus/areas")[0] == 404
    assert ask(gateway.base + AREA.format("finance"))[0] == 401

    status, headers, refusal = read("cfo", AREA.format("finance"), {"name": "x", "toolNames": []})
    assert (status, headers["allow"], refusal["error"]) == (405, "GET", "method_not_allowed")
    assert "edit `scopes/finance.toml`, then run `octoc build`" in refusal["message"]
    assert "`scopes/audit.toml`" in read("auditor", AGENT.format("auditor"), {})[2]["message"]
    assert read("cfo", AGENT.format("recruiter"), {})[0] == 404
