"""What a page may read of one agent, gathered as plain values within its registry. Connects and changes nothing."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.plugin import (
    AgentGroups,
    AgentOverview,
    AgentSummary,
    BackendView,
    ClientView,
    RoutedMessage,
    ToolFilter,
    ToolGroupView,
    ToolView,
)
from octoc.runtime import COUNTED_FORMAT, explain_route, shown, tool_text
from octoc_serve.client_session import ClientSession

if TYPE_CHECKING:
    from octoc.runtime import Runtime, Session
    from octoc_serve.server import GatewayServer
    from octoc_serve.session_store import ClientKey

MAX_SCHEMA_CHARS = 20_000
OWN = "octoc"
"""Server name under which octoc's own tools are listed."""


async def overview(gateway: GatewayServer, key: ClientKey, tools: ToolFilter) -> AgentOverview:
    """Return an agent as its clients have it. Raises: BundleFileError, LookupError."""
    async with _new_client(gateway, key) as session:
        agent, generation, visible = session.agent, session.state.loaded, session.state.tools
        own = _own_tools(session, stateless=gateway.stateless)
        base = visible.base()
        catalog = generation.catalog
        indexes = sorted(visible.known(), key=lambda index: (catalog[index].id.server, index))
        # Views are made for the listed section alone: an agent may have thousands of tools.
        matching: list[ToolView | int] = [
            tool for tool in own if tools.matches(OWN, tool.name, tool.alias, tool.description)
        ]
        matching += [index for index in indexes if _matches(tools, session, index)]
        reachable = frozenset(visible.reachable())
        all_tokens = await asyncio.to_thread(_tokens, session, indexes)
        backends = await asyncio.to_thread(_backends, gateway.runtime, session, indexes)
        totals, by_tool = gateway.recent.totals(key)
        listed = matching[tools.start : tools.start + tools.limit]
        return AgentOverview(
            name=agent.name,
            tenant=key.tenant,
            description=agent.description or agent.title,
            type=agent.type,
            model=agent.model,
            tools=tuple(_tool(session, one, base, reachable) if isinstance(one, int) else one for one in listed),
            matching=len(matching),
            total=len(indexes),
            unconnected=tuple(
                server
                for server in visible.unlisted_servers()
                if not catalog.has_joined(server) and generation.can_connect(server)
            ),
            capabilities={
                name: generation.capabilities[name].description
                for name in visible.switchable
                if name not in agent.registry.boot
            },
            boot=agent.registry.boot,
            max_active=session.state.active.capacity,
            prompt_tools=len(own) + len(base),
            prompt_tokens=sum(tool.tokens for tool in own) + _tokens(session, base),
            all_tokens=all_tokens,
            counter=session.counter.name,
            backends=backends,
            totals=totals,
            by_tool=by_tool,
            clients=_clients(gateway, key),
            calls=gateway.recent.of(key),
        )


async def summary(gateway: GatewayServer, key: ClientKey) -> AgentSummary:
    """Return an agent in one line. Raises: BundleFileError, LookupError."""
    async with _new_client(gateway, key) as session:
        own, base = _own_tools(session, stateless=gateway.stateless), session.state.tools.base()
        totals, _ = gateway.recent.totals(key)
        return AgentSummary(
            name=session.agent.name,
            tools=len(session.state.tools.known()),
            prompt_tools=len(own) + len(base),
            prompt_tokens=sum(tool.tokens for tool in own) + _tokens(session, base),
            calls=totals.calls,
            errors=totals.errors,
        )


def _tokens(session: Session, indexes: Iterable[int]) -> int:
    return sum(session.state.tools.scope.tokens(index, session.counter) for index in indexes)


def _backends(runtime: Runtime, session: Session, indexes: Iterable[int]) -> tuple[BackendView, ...]:
    """Return the states of the servers that the agent may use. It may read the values of variables, so it may wait."""
    visible, loaded = session.state.tools, session.state.loaded
    tools = Counter(loaded.catalog[index].id.server for index in indexes)
    brought = {grant.server for entry in visible.entries.values() for grant in entry.grants}
    names = sorted({*tools, *visible.unlisted_servers(), *brought} & runtime.servers.keys())
    return tuple(BackendView(**attrs.asdict(runtime.health(name)), tools=tools[name]) for name in names)


async def tool_groups(gateway: GatewayServer, key: ClientKey) -> AgentGroups:
    """Return an agent's tool groups and areas, without what the agent may not see. Raises: LookupError."""
    async with _new_client(gateway, key) as session:
        loaded, visible = session.state.loaded, session.state.tools
        areas = {area.name: area.file for area in loaded.bundle.areas if area.name in session.agent.areas}
        groups = tuple(
            ToolGroupView(
                name=group.name,
                description=group.description,
                area=group.area,
                tools=tuple(str(loaded.catalog[index].id) for index in visible.scope.granted(group.grants)),
            )
            for group in loaded.bundle.tool_groups
            if session.agent.name in group.agents
        )
    return AgentGroups(groups=groups, areas=areas)


async def route(gateway: GatewayServer, key: ClientKey, message: str) -> RoutedMessage:
    """Return where a new client's message would go. Raises: BundleFileError, LookupError."""
    async with _new_client(gateway, key) as session:
        routing, explanation = await asyncio.to_thread(explain_route, session.state, message, ())
        gate = session.state.loaded.bundle.gate
    profile = "" if gate is None else str(gate.data.get("profile", ""))
    return RoutedMessage(
        message=message,
        activates=tuple(name for name in (routing.capability, *routing.also) if name is not None),
        scores=routing.scores,
        background=routing.background,
        threshold=routing.threshold,
        margin=routing.margin,
        reason=routing.reason,
        intent=routing.intent,
        method=routing.method,
        gate="" if gate is None else " ".join(part for part in (gate.kind, profile) if part),
        explanation=explanation,
    )


@contextlib.asynccontextmanager
async def _new_client(gateway: GatewayServer, key: ClientKey) -> AsyncIterator[Session]:
    """Yield a session as a new client would get it. Raises: LookupError if the agent is gone."""
    session = gateway.runtime.session(key.agent, tenant=key.tenant)
    try:
        yield session
    finally:
        await session.close()


def _matches(tools: ToolFilter, session: Session, index: int) -> bool:
    tool = session.state.loaded.catalog[index]
    return tools.matches(tool.id.server, tool.id.tool, session.state.tools.alias(index), tool.description)


def _own_tools(session: Session, *, stateless: bool) -> list[ToolView]:
    """Return octoc's own tools as a client gets them. Raises: BundleFileError."""
    visible = frozenset(map(session.state.tools.alias, session.state.tools.visible()))
    wires = ClientSession(session, stateless=stateless).tools()
    return [_own(wire, session) for wire in wires if wire["name"] not in visible]


def _tool(session: Session, index: int, base: Collection[int], reachable: Collection[int]) -> ToolView:
    tool = session.state.loaded.catalog[index]
    return ToolView(
        server=tool.id.server,
        name=tool.id.tool,
        alias=session.state.tools.alias(index),
        description=tool.description,
        reach="in the prompt" if index in base else _reach(session, index, searched=index in reachable),
        tokens=session.state.tools.scope.tokens(index, session.counter),
        schema=_pretty(session.state.loaded.catalog.shared_wire(index).get("inputSchema")),
    )


def _clients(gateway: GatewayServer, key: ClientKey) -> tuple[ClientView, ...]:
    """Return the sessions of this token's clients, the latest last."""
    own = gateway.sessions.of(lambda one: attrs.evolve(one, session=None) == key)
    return tuple(_client(one, client) for one, client in own)


def _client(key: ClientKey, client: ClientSession) -> ClientView:
    session = client.session
    return ClientView(
        label=key.label,
        active=session.capabilities,
        kept=session.kept,
        skills=session.skills,
        tools=len(session.state.tools.visible()),
        running_calls=len(client.under_way),
    )


def _reach(session: Session, index: int, *, searched: bool) -> str:
    owners = session.state.tools.inactive_owners(index)
    with_owner = f"with {' or '.join(owners)}" if owners else ""
    if not searched:
        return with_owner or "not reachable"
    return f"by search, or {with_owner}" if with_owner else "by search"


def _own(wire: Mapping[str, Any], session: Session) -> ToolView:
    name = str(wire["name"])
    return ToolView(
        server=OWN,
        name=name,
        alias=name,
        description=str(wire.get("description", "")),
        reach="in the prompt",
        tokens=session.counter.count(tool_text(shown(name, wire, COUNTED_FORMAT).tool)),
        schema=_pretty(wire.get("inputSchema")),
    )


def _pretty(schema: object) -> str:
    text = json.dumps(schema, indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_SCHEMA_CHARS else f"{text[:MAX_SCHEMA_CHARS]}\n…"
