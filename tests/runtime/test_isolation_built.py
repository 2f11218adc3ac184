"""Scopes from octoc.toml to the words of a session: what is withheld might as well not be in the workspace."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.plugin import hookimpl
from octoc.plugin.manager import plugins_of
from octoc.results import ToolFailure
from octoc.runtime import Runtime
from octoc.runtime.results.failures import as_mcp_result
from octoc.testing import FakeEmbedder, WorkspaceBuilder

DENY = """
[groups.everyday]
tools = ["docs/*", "mail/send"]
[[grants]]
agents = "clerk"
groups = ["everyday"]
capabilities = ["write"]
skills = ["closing"]
"""
ELSEWHERE = """
[areas.people]
agents = ["recruiter"]
[groups.payroll]
area = "people"
tools = ["payroll/*", "raw/*"]
[[grants]]
agents = "recruiter"
groups = ["payroll"]
"""
QUERIES = ["send a mail", "pay wages", "search the docs", "read", ""]
MESSAGES = ["write a message", "pay the wages now", "tell me about payroll"]
CALLS: list[tuple[str, Any]] = [
    *((name, {}) for name in ("payroll__pay", "payroll/read", "pay", "read", "raw__x", "raw/x", "mail__list", "list")),
    ("call_mcp_tool", {"tool_name": "payroll__pay"}),
    *(("find_tools", {"query": query}) for query in QUERIES),
    ("capability", {"action": "list"}),
    *(("capability", {"action": "enable", "name": name}) for name in ("wages", "wage", "rawer")),
    ("skill", {"action": "list"}),
    *(("skill", {"action": "use", "name": name}) for name in ("firing", "closing")),
]


class _Encoder:
    """Makes the fake embedder, at build time and at run time."""

    @hookimpl
    def octoc_make_embedder(self, name: str) -> FakeEmbedder:
        return FakeEmbedder(name)


def _built(root: Path, *, whole: bool, profile: str, encoder: bool) -> Path:
    builder = WorkspaceBuilder(root, routing={"gate": "octomind"}).settings("scopes", profile=profile)
    if whole:
        builder.server("payroll", "payroll-mcp").snapshot("payroll", ["pay", "read", "wages"])
        builder.server("raw", "raw-mcp")
    for server, tools in {
        "docs": ["search", "read", *(f"chapter_{number}" for number in range(30))],
        "mail": ["send", "list"],
    }.items():
        builder.server(server, f"{server}-mcp").snapshot(server, tools)
    builder.capability("write", ["write a message"], server="mail")
    builder.skill("closing", "Close the books.", description="Closes")
    builder.agent("clerk", type="worker")
    scopes = DENY if profile == "deny" else ""
    if whole:
        builder.capability("wages", ["pay the wages now"], server="payroll")
        if profile == "deny":  # no other agent lacks a skill
            builder.skill("firing", "Say it.", description="Fires", capabilities=["wages"])
        builder.agent("recruiter", type="worker")
        scopes += ELSEWHERE
    builder.file("scopes/company.toml", scopes or "[tenants.unused]\n")
    outcome = builder.build(plugins_of(_Encoder()) if encoder else plugins_of())
    assert outcome.bundle is not None, outcome.diagnostics
    return outcome.bundle


def _plain(outcome: Any) -> Any:
    if isinstance(outcome, ToolFailure):
        return (outcome.kind, outcome.text, outcome.similar)
    return as_mcp_result(outcome)


async def _seen(bundle: Path, root: Path, *, encoder: bool) -> list[Any]:
    plugins = plugins_of(_Encoder()) if encoder else plugins_of()
    async with Runtime.open(bundle, plugins=plugins, workspace=root) as runtime:
        session = runtime.session("clerk")
        found: list[Any] = [session.system_prompt, session.servers_prompt, session.tools()]
        found.append(attrs.astuple(session.cache_report()))
        found.append(attrs.astuple(session.inspect()))
        found.extend([(hit.tool, hit.alias, hit.score) for hit in session.search(query)] for query in QUERIES)
        found.extend(session.route(text) for text in MESSAGES)
        for name, arguments in CALLS:
            # A call of what is in scope ends at a server that is not there, in both.
            found.append((name, json.dumps(arguments), _plain(await session.call(name, arguments))))
        return found


@pytest.mark.parametrize("encoder", [False, True], ids=["words", "vectors"])
@pytest.mark.parametrize("profile", ["allow", "deny"])
def test_what_is_withheld_might_as_well_not_be_there(tmp_path: Path, profile: str, encoder: bool) -> None:
    """A workspace with another area's servers, capabilities, skills and agent answers as one without them."""
    answers = []
    for name, whole in (("whole", True), ("bare", False)):
        bundle = _built(tmp_path / name, whole=whole, profile=profile, encoder=encoder)
        answers.append(asyncio.run(_seen(bundle, tmp_path, encoder=encoder)))
    for one, other in zip(*answers, strict=True):
        assert one == other
    assert "payroll" not in json.dumps(answers[0][:5], default=str)
