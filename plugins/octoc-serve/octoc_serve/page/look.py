"""What the page shows of one agent, gathered as plain values within its registry. Connects and changes nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from octoc.formats.render import shown
from octoc.runtime.costs import FORMAT, text_of
from octoc_serve.served import Served

if TYPE_CHECKING:
    from octoc.runtime import Session
    from octoc_serve.door import Door
    from octoc_serve.recent import RecentCall
    from octoc_serve.states import Key

MAX_SCHEMA_CHARS = 20_000
OWN = "octoc"
"""What the page calls the server of octoc's own tools."""


@attrs.frozen(kw_only=True)
class ToolLook:
    """A tool. `name` is what its server calls it, `alias` what the model does; `how` it is reached, in a few words."""

    server: str
    name: str
    alias: str
    description: str
    how: str
    tokens: int
    schema: str


@attrs.frozen(kw_only=True)
class SessionLook:
    """What a client has. `label` is a digest of the session's name, which is nobody's but its client's."""

    label: str
    active: tuple[str, ...]
    pinned: tuple[str, ...]
    skills: tuple[str, ...]
    shown: int
    under_way: int


@attrs.frozen(kw_only=True)
class AgentLook:
    """An agent as its clients have it.

    Args:
        capabilities: name -> description of those that may be activated; `boot` are there from the start.
        waiting: servers whose tools are not known before they are connected.
        prompt_tools, prompt_tokens: of what a new client is shown, octoc's own tools among them.
        counter: what counted the tokens.
    """

    name: str
    tenant: str | None
    description: str
    type: str
    model: str
    tools: tuple[ToolLook, ...]
    waiting: tuple[str, ...]
    capabilities: Mapping[str, str]
    boot: tuple[str, ...]
    max_active: int
    prompt_tools: int
    prompt_tokens: int
    counter: str
    sessions: tuple[SessionLook, ...]
    calls: tuple[RecentCall, ...]


@contextlib.asynccontextmanager
async def fresh(door: Door, key: Key) -> AsyncIterator[Session]:
    """Yield a session as a new client would have it. Raises: LookupError when there is no such agent any more."""
    session = door.surface.runtime.session(key.agent, tenant=key.tenant)
    try:
        yield session
    finally:
        await session.close()


async def look(door: Door, key: Key) -> AgentLook:
    """Return what there is to see of an agent. Raises: BundleRefused, LookupError."""
    async with fresh(door, key) as session:
        tools = tools_of(session, stateless=door.surface.stateless)
        agent, generation = session.agent, session.generation
        base = frozenset(generation.catalog[index].alias for index in session.surface.base())
        first = [tool for tool in tools if tool.server == OWN or tool.alias in base]
        capabilities = {
            name: generation.capabilities[name].description
            for name in session.surface.switchable
            if name not in agent.registry.boot
        }
        return AgentLook(
            name=agent.name,
            tenant=key.tenant,
            description=agent.description or agent.title,
            type=agent.type,
            model=agent.model,
            tools=tools,
            waiting=tuple(
                server
                for server in session.surface.unlisted_servers()
                if not generation.catalog.has_joined(server) and generation.can_connect(server)
            ),
            capabilities=capabilities,
            boot=agent.registry.boot,
            max_active=session.active.capacity,
            prompt_tools=len(first),
            prompt_tokens=sum(tool.tokens for tool in first),
            counter=session.counter.name,
            sessions=sessions_of(door, key),
            calls=door.surface.recent.of(key),
        )


def tools_of(session: Session, *, stateless: bool) -> tuple[ToolLook, ...]:
    """Return octoc's own tools as a client is shown them, then the registry's by server. Raises: BundleRefused."""
    surface, catalog, costs = session.surface, session.generation.catalog, session.generation.costs
    base = frozenset(surface.base())
    visible = frozenset(catalog[index].alias for index in surface.visible())
    found = [
        _own(wire, session)
        for wire in Served(session, stateless=stateless).tools()
        if wire["name"] not in visible
    ]  # fmt: skip
    for index in sorted(surface.known(), key=lambda index: (catalog[index].id.server, index)):
        tool = catalog[index]
        found.append(
            ToolLook(
                server=tool.id.server,
                name=tool.id.tool,
                alias=tool.alias,
                description=tool.description,
                how=_how(session, index, direct=index in base),
                tokens=costs.tokens(index, session.counter),
                schema=_pretty(catalog.shared_wire(index).get("inputSchema")),
            )
        )
    return tuple(found)


def sessions_of(door: Door, key: Key) -> tuple[SessionLook, ...]:
    """Return what is kept of this token's clients, the latest last."""
    own = door.surface.states.of(lambda one: attrs.evolve(one, session=None) == key)
    return tuple(_session(one, served) for one, served in own)


def _session(key: Key, served: Served) -> SessionLook:
    session = served.session
    return SessionLook(
        label="shared" if key.session is None else hashlib.sha256(key.session.encode()).hexdigest()[:8],
        active=session.capabilities,
        pinned=session.pinned,
        skills=session.skills,
        shown=len(session.surface.visible()),
        under_way=len(served.under_way),
    )


def _how(session: Session, index: int, *, direct: bool) -> str:
    if direct:
        return "in the prompt"
    owners = session.surface.inactive_owners(index)
    with_owner = f"with {' or '.join(owners)}" if owners else ""
    if not session.surface.registry.proxy or index not in session.surface.reachable():
        return with_owner or "not reachable"
    return f"by search, or {with_owner}" if with_owner else "by search"


def _own(wire: Mapping[str, Any], session: Session) -> ToolLook:
    name = str(wire["name"])
    return ToolLook(
        server=OWN,
        name=name,
        alias=name,
        description=str(wire.get("description", "")),
        how="in the prompt",
        tokens=session.counter.count(text_of(shown(name, wire, FORMAT).tool)),
        schema=_pretty(wire.get("inputSchema")),
    )


def _pretty(schema: object) -> str:
    text = json.dumps(schema, indent=2, ensure_ascii=False, default=str)
    return text if len(text) <= MAX_SCHEMA_CHARS else f"{text[:MAX_SCHEMA_CHARS]}\n…"


def matching(tools: Sequence[ToolLook], words: str) -> list[ToolLook]:
    """Return the tools that have each of these words in a name or in the description."""
    wanted = words.casefold().split()
    return [
        tool
        for tool in tools
        if all(word in f"{tool.server}/{tool.name} {tool.alias} {tool.description}".casefold() for word in wanted)
    ]
