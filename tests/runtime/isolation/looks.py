"""Build a described fleet with the real compiler, and collect everything that an agent's session shows."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any

import attrs

from octoc.bundle.reader import OpenBundle
from octoc.formats import ToolFormat
from octoc.plugin import Host, ServerTarget, hookimpl
from octoc.plugin.manager import Plugins, plugins_of
from octoc.results import ListedTool, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.runtime import Runtime, Session
from octoc.runtime.results.failures import as_mcp_result
from octoc.testing import FakeEmbedder, WorkspaceBuilder

from .fleets import KEEPER, SPARE, CapabilityFacts, Facts, Has, Pattern, ServerFacts, scopes_of

FORMATS: tuple[ToolFormat, ...] = ("anthropic", "openai", "openai-responses", "gemini", "mcp")
SPELLINGS = ("{0}/{1}", "{0}__{1}", "{0}:{1}", "mcp__{0}__{1}", "{1}")
UNKNOWN_TOOLS = (("unknown", "thing"), ("mail", "thing"))
_HANDLE = re.compile(r"r-[A-Za-z0-9_-]{16}")
LONG = "L" * 400


def nonce(tool: Pattern) -> str:
    """Return what a tool answers."""
    return f"the nonce of {tool[0]} and {tool[1]}"


def about(tool: Pattern) -> str:
    """Return a tool's description."""
    return f"Lets one {tool[1].replace('_', ' ')} things that are kept in the {tool[0]}"


@attrs.define(eq=False)
class World:
    """The servers of a fleet, in this process: a transport, an encoder, functions, and an ear for what was called.

    While it is `locked` no variable is set.
    """

    facts: Facts
    heard: list[Any] = attrs.field(factory=list)
    locked: bool = False

    @hookimpl
    def octoc_make_transport(self, kind: str) -> World | None:
        return self if kind == "stdio" else None

    @hookimpl
    def octoc_make_embedder(self, name: str) -> FakeEmbedder:
        return FakeEmbedder(name)

    @hookimpl
    def octoc_resolve_secret(self, reference: str) -> str | None:
        return None if self.locked else f"the value of {reference}"

    @hookimpl
    def octoc_call_finished(self, server: str, call: ToolCall, outcome: Any) -> None:
        self.heard.append((call.caller.agent, server, call.tool, dict(call.arguments), plain(outcome)))

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Line:
        """Connect to one of the servers; what makes the world a transport."""
        hoard = ServerFacts(tools=tuple(tool for _, tool in SPARE))
        return Line(target.name, hoard if target.name == SPARE[0][0] else self.facts.servers[target.name])


@attrs.define
class Line:
    """A connection."""

    name: str
    facts: ServerFacts
    alive: bool = True

    async def list_tools(self) -> ServerListing:
        tools = tuple(
            ListedTool(name=tool, description=about((self.name, tool)), wire=_wire((self.name, tool)))
            for tool in self.facts.tools
        )
        return ServerListing(server_info={"name": self.name}, protocol_version="1", instructions=None, tools=tools)

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        return ToolResult.of_text(_answer((self.name, call.tool), call.arguments))

    async def close(self) -> None:
        self.alive = False


def _answer(tool: Pattern, given: Mapping[str, Any]) -> str:
    return f"{nonce(tool)} {LONG if given.get('long') else ''}"


def _wire(tool: Pattern) -> dict[str, Any]:
    schema = {"type": "object", "properties": {f"of_{tool[0]}": {"type": "string"}, "long": {"type": "boolean"}}}
    return {"name": tool[1], "description": about(tool), "inputSchema": schema}


def trigger(capability: str) -> str:
    """Return what makes a message activate a capability."""
    return f"please do the {capability} work for me now"


def build(facts: Facts, root: Path) -> tuple[Path, World]:
    """Compile the fleet; returns the bundle and its world."""
    world = World(facts)
    builder = WorkspaceBuilder(root, routing={"gate": "octomind"}, results={"max_chars": 300, "profile": "octoc"})
    builder.settings("scopes", profile=facts.profile).settings("aliases", style=facts.style).tap()
    builder.agent(KEEPER, type="worker")  # it searches, so that every fleet has an index
    builder.server(SPARE[0][0], "spare-mcp").snapshot(SPARE[0][0], [_wire(tool) for tool in SPARE])
    for name, server in facts.servers.items():
        builder.server(name, f"{name}-mcp", env={"KEY": f"${{{name.upper()}_KEY}}"} if server.keyed else {})
        if server.listed:
            builder.snapshot(name, [_wire((name, tool)) for tool in server.tools], instructions=f"Be kind to {name}.")
    hoarding = CapabilityFacts(patterns=SPARE[:1])
    for name, capability in {**facts.capabilities, "hoarding": hoarding}.items():
        folder = f"taps/local/capabilities/{name}"
        servers = json.dumps(list(dict.fromkeys(server for server, _ in capability.patterns)))
        allowed = json.dumps([f"{server}:{glob}" for server, glob in capability.patterns])
        domains = json.dumps(list(capability.domains))
        builder.file(f"{folder}/config.toml", f"triggers = [{json.dumps(trigger(name))}]\ndomains = {domains}\n")
        roles = f"[roles.mcp]\nserver_refs = {servers}\nallowed_tools = {allowed}\n"
        builder.file(f"{folder}/default.toml", f"# Title: {name}\n# Description: About {name}\n\n{roles}")
    for name, skill in facts.skills.items():
        front: dict[str, Any] = {"capabilities": list(skill.capabilities), "domains": list(skill.domains)}
        builder.skill(name, f"How to do {name}.", rules=[f"match({name})"], **front)
    for name, agent in facts.agents.items():
        if agent.kind == "manifest":
            builder.octomind_agent(*name.split(":"), capabilities=agent.boot)
            continue
        front = {"type": "supervisor" if agent.kind == "supervisor" else "worker"}
        if agent.kind == "picky":
            # A tool of the host, so that the agent is there although nothing else is left for it.
            front |= {"tools": ["Read", *("/".join(one) for one in agent.tools)]}
            front |= {"skills": list(agent.skills)} if agent.skills else {}
        front |= {"disallowedTools": ["/".join(one) for one in agent.disallowed]} if agent.disallowed else {}
        builder.agent(name, f"You are {name}.", **front)
    builder.file("scopes/all.toml", scopes_of(facts))
    outcome = builder.build(plugins_of(world) if facts.encoder else plugins_of())
    assert outcome.bundle is not None, outcome.diagnostics
    there = {agent.name for agent in OpenBundle.open(outcome.bundle).bundle.agents}
    assert there >= {*facts.agents, KEEPER}, "\n".join(one.message for one in outcome.diagnostics)
    return outcome.bundle, world


def opened(bundle: Path, world: World, root: Path) -> Runtime:
    """Open a fleet's bundle with its world."""
    plugins: Plugins = plugins_of(world)
    return Runtime.open(bundle, plugins=plugins, workspace=root, clock=lambda: 0.0)


def plain(outcome: Any) -> Any:
    """Return an outcome as the model and the host have it."""
    if isinstance(outcome, ToolFailure):
        return (outcome.kind, outcome.message, outcome.text, outcome.similar, outcome.retry_after_s)
    return as_mcp_result(outcome)


async def join_all(runtime: Runtime) -> None:
    """Have every server without a snapshot listed, as if other agents had used it."""
    for name, server in runtime.servers.items():
        if not server.listed and runtime.can_connect(name):
            async with runtime.state.current.pool.use(name):
                pass


@attrs.frozen(kw_only=True)
class Questions:
    """What a session is asked: every name in the fleet, and some unknown names."""

    tools: tuple[Pattern, ...]
    capabilities: tuple[str, ...]
    skills: tuple[str, ...]
    handle: str
    searches: bool = True

    @classmethod
    def about(cls, facts: Facts, handle: str, *, searches: bool = True) -> Questions:
        """Ask for all of a fleet."""
        return cls(
            searches=searches,
            tools=(*facts.tools(), SPARE[0], *UNKNOWN_TOOLS),
            capabilities=(*facts.capabilities, "hoarding", "unknown"),
            skills=(*facts.skills, "unknown"),
            handle=handle,
        )

    def names(self) -> Iterator[str]:
        """Yield every spelling of every tool, and a misspelling of each."""
        spelt = dict.fromkeys(form.format(*tool) for tool in self.tools for form in SPELLINGS)
        yield from spelt
        yield from dict.fromkeys(f"{server}__{tool[:-1]}" for server, tool in self.tools)
        yield from dict.fromkeys(f"{server}__" for server, _ in self.tools)

    def queries(self) -> Iterator[str]:
        """Yield searches: names, words of descriptions, servers."""
        yield from dict.fromkeys(tool for _, tool in self.tools)
        yield from dict.fromkeys(about(tool) for tool in self.tools)
        yield from dict.fromkeys(server for server, _ in self.tools)
        yield ""

    def calls(self) -> Iterator[tuple[str, Any]]:
        """Yield calls that change nothing that lasts."""
        for name in self.names():
            yield name, {}
            yield "call_mcp_tool", {"tool_name": name, "arguments": {}}
        for query in self.queries() if self.searches else ():
            yield "find_tools", {"query": query}
        yield "find_tools", {"detail": ["{}__{}".format(*tool) for tool in self.tools]}
        yield "capability", {"action": "list"}
        for name in (*self.capabilities, "reprots"):
            yield "capability", {"action": "discover", "intent": trigger(name)}
        yield "skill", {"action": "list"}
        yield "read_result", {"handle": self.handle}

    def switches(self) -> Iterator[tuple[str, Any]]:
        """Yield calls that activate and deactivate, as far as that is to be had."""
        for action in ("enable", "disable"):
            for name in (*self.capabilities, *(name[:-1] for name in self.capabilities)):
                yield "capability", {"action": action, "name": name}
        for action in ("use", "forget"):
            for name in (*self.skills, *(name[:-1] for name in self.skills)):
                yield "skill", {"action": action, "name": name}


def _told(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except (ValueError, LookupError) as error:
        return f"{type(error).__name__}: {error}"


def state(session: Session, asked: Questions) -> Iterator[tuple[str, Any]]:
    """Yield what a session shows without a call; searches where it searches: the model of another never does."""
    searches = session.agent.registry.proxy and asked.searches
    yield "system prompt", session.system_prompt
    yield "servers prompt", session.servers_prompt
    yield "skills prompt", session.skills_prompt
    for form in FORMATS:
        yield f"tools {form}", session.tools(form)
        yield f"native tools {form}", _told(partial(session.tools, form, deferred="native"))
        for tool in asked.tools if searches else ():
            yield f"tool search {form} {tool}", _told(partial(session.tool_search, about(tool)))
    session.tools("mcp")
    yield "cache report", session.cache_report()
    yield "inspect", session.inspect([{"role": "user", "content": "x"}], budget_tokens=10_000)
    yield "capabilities", (session.capabilities, session.skills, session.kept)
    for query in asked.queries() if searches else ():
        yield f"search {query}", session.search(query, 50)
    for name in (*asked.capabilities, "closing heist hello"):
        yield f"route {name}", session.route(trigger(name))


async def seen(runtime: Runtime, agent: str, tenant: str | None, asked: Questions) -> list[tuple[str, Any]]:
    """Return all that a session of one agent shows and answers, in one order; handles, which are random, alike."""
    session = runtime.session(agent, tenant=tenant)
    found = list(state(session, asked))
    found += [(f"keep {name}", (session.keep(name), session.stop_keeping(name))) for name in asked.capabilities]
    for name, arguments in asked.calls():
        found.append((f"call {name} {json.dumps(arguments)}", plain(await session.call(name, arguments))))
    found += [(f"after calls: {what}", value) for what, value in state(session, asked)]
    for name, arguments in asked.switches():
        found.append((f"call {name} {json.dumps(arguments)}", plain(await session.call(name, arguments))))
        found.append((f"after {name}: tools", session.tools("mcp")))
    for name in (*asked.capabilities, *asked.skills):
        found.append((f"message {name}", await session.on_user_message(f"{trigger(name)} {name}")))
        found.append((f"after {name}: tools", session.tools("mcp")))
        found.append((f"after {name}: inspected", session.inspect()))
    found += [(f"after messages: {what}", value) for what, value in state(session, asked)]
    found.append(("connect", await session.connect_unlisted()))
    found += [(f"at last: {what}", value) for what, value in state(session, asked)]
    for name, arguments in asked.calls():
        found.append((f"at last: call {name} {json.dumps(arguments)}", plain(await session.call(name, arguments))))
    await session.close()
    return [(_HANDLE.sub("r-", what), _HANDLE.sub("r-", repr(value))) for what, value in found]


async def reaches(runtime: Runtime, agent: str, tenant: str | None, mine: Has, facts: Facts) -> None:
    """Assert that every tool the agent has is found and called, and that no other tool answers."""
    tools = [*facts.tools(), SPARE[0]]
    for tool in tools:
        session = runtime.session(agent, tenant=tenant)
        await join_all(runtime)
        owners = [name for name in facts.capabilities if name in mine.capabilities]
        called = await session.call("/".join(tool), {})
        for owner in owners:
            if called.ok:
                break
            await session.activate(owner)
            called = await session.call("/".join(tool), {})
        if tool in mine:
            assert called.ok, (agent, tool, called)
            assert nonce(tool) in called.text
            if facts.agents[agent].proxy:
                # Whether it is in the answer is for the encoder to say, and the fake one's vectors mean nothing.
                found = session.state.loaded.search.rank(session.state.tools, f"{tool[1]} {about(tool)}", 50)
                hits = [ranked.hit.tool for ranked in found.hits]
                assert "/".join(tool) in hits, (agent, tool, hits)
        else:
            assert not called.ok, (agent, tool)
            assert getattr(called, "kind", "") == "not_found"
        await session.close()


@contextmanager
def logged() -> Iterator[list[str]]:
    """Collect what octoc logs meanwhile."""
    lines: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = _HANDLE.sub("r-", record.getMessage())
            if not text.startswith("server `"):  # sessions share connections: one may be open already
                lines.append(text)

    ear, logger = Ear(logging.DEBUG), logging.getLogger("octoc.runtime")
    level = logger.level
    logger.addHandler(ear)
    logger.setLevel(logging.DEBUG)
    try:
        yield lines
    finally:
        logger.removeHandler(ear)
        logger.setLevel(level)


async def kept_by_another(
    runtime: Runtime, agent: str, tenants: Mapping[str, str | None]
) -> tuple[Session, str] | None:
    """Return a session of another agent and a handle that it has, or None where no other gets a long result.

    Of a tool that the agent has, too, if there is one: then the owner alone keeps it from reading on.
    """
    own = frozenset(runtime.session(agent, tenant=tenants.get(agent)).state.tools.known())
    others = [runtime.session(name, tenant=tenants.get(name)) for name in runtime.agents if name != agent]
    for session in sorted(others, key=lambda one: own.isdisjoint(one.state.tools.reachable())):
        for number in sorted(session.state.tools.reachable(), key=lambda one: one not in own):
            outcome = await session.call(str(runtime.state.current.catalog[number].id), {"long": True})
            handle = getattr(outcome, "handle", None)
            if handle is not None:
                return session, str(handle)
    return None


def differences(one: Iterable[tuple[str, Any]], other: Iterable[tuple[str, Any]]) -> list[str]:
    """Return what differs, in words that are short enough to read."""
    return [
        f"{what}:\n  full    {mine[:1500]}\n  reduced {theirs[:1500]}"
        for (what, mine), (_, theirs) in zip_longest(one, other, fillvalue=("nothing", ""))
        if mine != theirs
    ]
