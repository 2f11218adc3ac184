"""The law of scopes for resources and prompts: what an agent may not use shows nowhere, under any name.

In random fleets, an agent lists, reads and completes the same, byte for byte, as in a fleet whose servers have only
what it may use, and no server hears of a request that it may not make.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from octoc.plugin import ServerTarget, hookimpl
from octoc.plugin.manager import plugins_of
from octoc.results import ListedTool, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.runtime import Completion, Runtime, Session
from octoc.testing import WorkspaceBuilder

from .test_law import EXAMPLES

SERVERS = ("docs", "mail", "raw")
URIS = ("book://a", "book://b", "file:///a/b", "file:///c")
TEMPLATES = ("book://{name}", "file:///a/{+path}")
PROMPTS = ("review", "greet")
AGENTS = ("cfo", "clerk")
SECRET = "vault://secret"
"""A resource of every server that is denied to all, so that no agent has all of a server."""
LISTS = {"resources": "uri", "resourceTemplates": "uriTemplate", "prompts": "name"}
PROBES = (*URIS, "book://none", "file:///a/none", "other://x", SECRET)


@attrs.frozen
class Offered:
    """The names of each server's offers by list, the grants or groups of one area, and the denials."""

    servers: Mapping[str, Mapping[str, tuple[str, ...]]]
    profile: str
    owned: tuple[tuple[str, str, str], ...]
    """(server, list, name) that a group of the area of `cfo` names; under `deny` also granted to it."""
    granted: tuple[tuple[str, str, str], ...]
    """What `clerk` is granted under `deny`."""
    denied: tuple[tuple[str, str, str], ...]
    """What `clerk` is denied."""

    def has(self, agent: str) -> set[tuple[str, str, str]]:
        """Return what an agent may use, by the words of the page on scopes."""
        every = {(server, key, name) for server, lists in self.servers.items() for key in lists for name in lists[key]}
        if self.profile == "deny":
            return (
                {one for one in every if one in (self.owned if agent == "cfo" else self.granted)}
                - (self._taken(self.denied) if agent == "clerk" else set())
                - (set() if agent == "cfo" else self._taken(self.owned))
            )
        if agent == "cfo":
            return every
        return every - self._taken(self.owned) - self._taken(self.denied)

    def _taken(self, entries: tuple[tuple[str, str, str], ...]) -> set[tuple[str, str, str]]:
        """Return entries with the templates of their server that could read one of their resources."""
        readers = {
            (server, "resourceTemplates", template)
            for server, key, name in entries
            if key != "prompts"
            for template in self.servers[server]["resourceTemplates"]
            if name.startswith(template.partition("{")[0]) or template.partition("{")[0].startswith(name)
        }
        return {*entries, *readers}


@attrs.define(eq=False)
class OfferWorld:
    """The servers, in this process, and what was requested of them."""

    heard: list[tuple[str, str, str, str]] = attrs.field(factory=list)

    @hookimpl
    def octoc_make_transport(self, kind: str) -> OfferWorld | None:
        return self if kind == "stdio" else None

    async def connect(self, target: ServerTarget, host: Any = None) -> OfferLine:
        """Connect to a server."""
        return OfferLine(self, target.name)


@attrs.define
class OfferLine:
    """A connection: it answers whatever it is asked, so that only octoc keeps an agent from anything."""

    world: OfferWorld
    name: str
    alive: bool = True

    async def list_tools(self) -> ServerListing:
        """List the tool."""
        tool = ListedTool(name="t", description="", wire={"name": "t", "inputSchema": {"type": "object"}})
        return ServerListing(server_info={}, protocol_version="", instructions=None, tools=(tool,))

    async def call(self, call: ToolCall) -> ToolResult:
        """Answer a call."""
        return ToolResult.of_text("called")

    async def request(self, call: ToolCall) -> ToolResult:
        """Answer a request with what names its server and subject."""
        self.world.heard.append((call.caller.agent, self.name, call.method, call.tool))
        text = f"{self.name} has {call.tool}"
        answers: dict[str, Any] = {
            "resources/read": {"contents": [{"uri": call.tool, "text": text}]},
            "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]},
            "completion/complete": {"completion": {"values": [text]}},
        }
        return ToolResult(content=(), structured=answers[call.method])

    async def subscribe(self, call: ToolCall, updated: Callable[[str], None]) -> ToolResult:
        """Accept a subscription."""
        self.world.heard.append((call.caller.agent, self.name, call.method, call.tool))
        return ToolResult(content=(), structured={})

    async def unsubscribe(self, uri: str, updated: Callable[[str], None]) -> None:
        """End a subscription."""

    async def close(self) -> None:
        """End the connection."""
        self.alive = False


def entries(names: set[tuple[str, str, str]] | tuple[tuple[str, str, str], ...]) -> dict[str, list[str]]:
    """The entries of a table that names offers."""
    return {
        "resources": sorted(f"{server}/{name}" for server, key, name in names if key != "prompts"),
        "prompts": sorted(f"{server}/{name}" for server, key, name in names if key == "prompts"),
    }


def built(root: Path, offered: Offered, only: set[tuple[str, str, str]] | None, agent: str) -> Path:
    """Build the whole fleet, or one whose servers have `only` what `agent` names in its file."""
    builder = WorkspaceBuilder(root)
    for server, lists in offered.servers.items():
        builder.server(server, f"{server}-mcp")
        wires: Any = {
            key: [
                {LISTS[key]: name, "description": f"{name} of {server}"}
                for name in lists[key]
                if only is None or (server, key, name) in only
            ]
            for key in lists
        }
        if only is None:
            wires["resources"].append({"uri": SECRET, "name": "secret"})
        builder.snapshot(server, ["t"], features=("completions", "subscribe"), **wires)
    if only is not None:
        named: Any = entries(only)
        builder.agent(agent, type="worker", tools=[f"{server}/t" for server in offered.servers], **named)
        return _bundle(builder)
    for name in AGENTS:
        builder.agent(name)
    table = builder._settings
    table["scopes"] = {"profile": offered.profile}
    table["areas"] = {"finance": {"agents": ["cfo"]}}
    if offered.owned:
        table["groups"] = {"own": {"area": "finance", **entries(offered.owned)}}
    tools = [f"{server}/t" for server in offered.servers]
    grants: list[dict[str, Any]] = [{"agents": ["cfo", "clerk"], "tools": tools}]
    if offered.owned:
        grants.append({"agents": ["cfo"], "groups": ["own"]})
    if offered.granted:
        grants.append({"agents": ["clerk"], **entries(offered.granted)})
    table["grants"] = grants if offered.profile == "deny" else []
    table["deny"] = [{"agents": ["*"], "resources": [SECRET]}]
    if offered.denied:
        table["deny"].append({"agents": ["clerk"], **entries(offered.denied)})
    return _bundle(builder)


def _bundle(builder: WorkspaceBuilder) -> Path:
    made = builder.build(plugins_of())
    assert made.bundle is not None, made.diagnostics
    return made.bundle


async def seen(session: Session) -> list[Any]:
    """All that a session shows of resources and prompts, and what it answers to each name."""
    prompts = [one for server in SERVERS for own in PROMPTS for one in (f"{server}__{own}", f"{server}/{own}")]
    argument = {"name": "a", "value": ""}
    answers: list[Any] = [
        *((one.server, dict(one.wire)) for one in session.resources()),
        *((one.server, dict(one.wire)) for one in session.resource_templates()),
        *((one.server, dict(one.wire)) for one in session.prompts()),
    ]
    for uri in PROBES:
        answers.append((uri, await session.read_resource(uri)))
        answers.append((uri, await session.complete({"type": "ref/resource", "uri": uri}, argument)))
        answers.append((uri, await session.subscribe(uri, lambda _: None)))
    answers += [
        (template, await session.complete({"type": "ref/resource", "uri": template}, argument))
        for template in TEMPLATES
    ]
    for name in prompts:
        answers.append((name, await session.get_prompt(name)))
        answers.append((name, await session.complete({"type": "ref/prompt", "name": name}, argument)))
    return answers


def _lists() -> st.SearchStrategy[Mapping[str, tuple[str, ...]]]:
    return st.fixed_dictionaries({
        key: st.sets(st.sampled_from(pool)).map(lambda names: tuple(sorted(names)))
        for key, pool in (("resources", URIS), ("resourceTemplates", TEMPLATES), ("prompts", PROMPTS))
    })  # fmt: skip


@st.composite
def offered_fleets(draw: st.DrawFn) -> Offered:
    """Random servers and tables."""
    servers = {name: draw(_lists()) for name in SERVERS}
    every = [(server, key, name) for server, lists in servers.items() for key in lists for name in lists[key]]
    some = st.just(()) if not every else st.sets(st.sampled_from(every), max_size=4).map(lambda one: tuple(sorted(one)))
    return Offered(servers, draw(st.sampled_from(("allow", "deny"))), draw(some), draw(some), draw(some))


BOTH = {"resources": URIS, "resourceTemplates": TEMPLATES, "prompts": PROMPTS}


@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
@given(offered=offered_fleets())
@example(
    offered=Offered(
        dict.fromkeys(SERVERS, BOTH), "allow", (("docs", "resources", "book://a"),), (), (("mail", "prompts", "greet"),)
    )
)
@example(
    offered=Offered(
        dict.fromkeys(SERVERS, BOTH), "deny", (("docs", "prompts", "review"),), (("raw", "resources", "file:///c"),), ()
    )
)
def test_an_agent_sees_only_what_it_may_use(offered: Offered) -> None:
    """Lists, answers and failures are those of a fleet that has nothing else, and no other request is made."""

    async def compare() -> None:
        for agent in AGENTS:
            has = offered.has(agent)
            with tempfile.TemporaryDirectory() as full, tempfile.TemporaryDirectory() as own:
                shown = []
                for root, only in ((full, None), (own, has)):
                    world = OfferWorld()
                    path = built(Path(root), offered, only, agent)
                    async with Runtime.open(path, plugins=plugins_of(world)) as runtime:
                        shown.append((await seen(runtime.session(agent)), world.heard))
            assert shown[0] == shown[1]
            listed = {name for _, _, name in has}
            for _, answer in shown[0][0]:
                is_answer = isinstance(answer, (dict, type(None), Completion)) or answer.ok
                assert is_answer or (isinstance(answer, ToolFailure) and answer.kind == "not_found")
            for _, server, method, subject in shown[0][1]:
                if method == "prompts/get":
                    assert (server, "prompts", subject) in has
                elif subject in URIS and subject in listed:
                    assert server in {one[0] for one in has}

    asyncio.run(compare())
