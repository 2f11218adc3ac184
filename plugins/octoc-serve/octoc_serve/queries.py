"""What the page shows of one agent, gathered as plain values within its registry. Connects and changes nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import AsyncIterator, Collection, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.formats.render import shown
from octoc.runtime.costs import FORMAT, text_of
from octoc_serve.client_session import Served

if TYPE_CHECKING:
    from octoc.runtime import Session
    from octoc_serve.door import Door
    from octoc_serve.recent_calls import RecentCall
    from octoc_serve.session_store import Key

MAX_SCHEMA_CHARS = 20_000
OWN = "octoc"
"""What the page calls the server of octoc's own tools."""


@attrs.frozen(kw_only=True)
class Asked:
    """Which tools are to be seen: those with each of these words in a name or the description, `most` from `start`."""

    words: str = ""
    start: int = 0
    most: int = 100

    def fits(self, server: str, name: str, *texts: str) -> bool:
        """Tell whether a tool is meant."""
        text = f"{server}/{name} {' '.join(texts)}".casefold() if self.words else ""
        return all(word in text for word in self.words.casefold().split())


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
        tools: those that were asked for, octoc's own first, then by server; `found` is how many fit, `known` how many
            tools its registry has.
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
    found: int
    known: int
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


async def look(door: Door, key: Key, asked: Asked) -> AgentLook:
    """Return what there is to see of an agent. Raises: BundleRefused, LookupError."""
    async with fresh(door, key) as session:
        agent, generation, surface = session.agent, session.generation, session.surface
        own = _own_tools(session, stateless=door.surface.stateless)
        base = surface.base()
        catalog = generation.catalog
        known = sorted(surface.known(), key=lambda index: (catalog[index].id.server, index))
        # What each tool has is worked out for those that are shown: an agent may have thousands.
        found: list[ToolLook | int] = [tool for tool in own if asked.fits(OWN, tool.name, tool.alias, tool.description)]
        found += [index for index in known if _fits(asked, session, index)]
        reachable = frozenset(surface.reachable())
        shown = found[asked.start : asked.start + asked.most]
        return AgentLook(
            name=agent.name,
            tenant=key.tenant,
            description=agent.description or agent.title,
            type=agent.type,
            model=agent.model,
            tools=tuple(_tool(session, one, base, reachable) if isinstance(one, int) else one for one in shown),
            found=len(found),
            known=len(known),
            waiting=tuple(
                server
                for server in surface.unlisted_servers()
                if not catalog.has_joined(server) and generation.can_connect(server)
            ),
            capabilities={
                name: generation.capabilities[name].description
                for name in surface.switchable
                if name not in agent.registry.boot
            },
            boot=agent.registry.boot,
            max_active=session.active.capacity,
            prompt_tools=len(own) + len(base),
            prompt_tokens=sum(tool.tokens for tool in own)
            + sum(surface.scope.tokens(index, session.counter) for index in base),
            counter=session.counter.name,
            sessions=sessions_of(door, key),
            calls=door.surface.recent.of(key),
        )


def _fits(asked: Asked, session: Session, index: int) -> bool:
    tool = session.generation.catalog[index]
    return asked.fits(tool.id.server, tool.id.tool, session.surface.alias(index), tool.description)


def _own_tools(session: Session, *, stateless: bool) -> list[ToolLook]:
    """Return octoc's own tools as a client is shown them. Raises: BundleRefused."""
    visible = frozenset(map(session.surface.alias, session.surface.visible()))
    wires = Served(session, stateless=stateless).tools()
    return [_own(wire, session) for wire in wires if wire["name"] not in visible]


def _tool(session: Session, index: int, base: Collection[int], reachable: Collection[int]) -> ToolLook:
    tool = session.generation.catalog[index]
    return ToolLook(
        server=tool.id.server,
        name=tool.id.tool,
        alias=session.surface.alias(index),
        description=tool.description,
        how="in the prompt" if index in base else _how(session, index, searched=index in reachable),
        tokens=session.surface.scope.tokens(index, session.counter),
        schema=_pretty(session.generation.catalog.shared_wire(index).get("inputSchema")),
    )


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


def _how(session: Session, index: int, *, searched: bool) -> str:
    owners = session.surface.inactive_owners(index)
    with_owner = f"with {' or '.join(owners)}" if owners else ""
    if not searched:
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
