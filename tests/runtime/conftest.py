"""A fleet in memory: servers that are plain Python, a bundle built by the real writer, and a runtime that opens it."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

from octoc.aliases import make_aliases
from octoc.bundle.digest import sha256_hex
from octoc.bundle.model import (
    AgentEntry,
    AgentSettings,
    Bundle,
    CapabilityEntry,
    DepEntry,
    Encoder,
    Gate,
    Grant,
    Registry,
    ResultSettings,
    ServerEntry,
    Settings,
    SkillEntry,
    ToolEntry,
    ToolPolicy,
)
from octoc.bundle.organisation import TenantEntry
from octoc.bundle.writer import BlobBuilder, write_bundle
from octoc.names import ToolId, any_glob_matches
from octoc.plugin import ConnectFailedError, Host, ServerTarget, hookimpl
from octoc.plugin.manager import plugins_of
from octoc.results import ListedTool, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.routing.skill_rules import phrases_of
from octoc.runtime import Runtime

Handler = Callable[[Mapping[str, Any]], Awaitable[ToolResult | ToolFailure]]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


class WordEmbedder:
    """Counts a text's words, each in a dimension of its own: texts that share words are near each other."""

    name = "words"
    identity = "words-1"
    dimension = 64

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def embed(self, text: str) -> NDArray[np.float32]:
        vector = np.zeros(self.dimension, np.float32)
        for word in text.lower().split():
            vector[self._places.setdefault(word, len(self._places))] += 1
        return vector / max(float(np.linalg.norm(vector)), 1e-9)

    def files(self) -> dict[str, bytes]:
        return {}


@attrs.define
class Server:
    """A server of the fleet: what it has, how it behaves, and what was done to it."""

    name: str
    tools: dict[str, Handler]
    schemas: Mapping[str, Any] = attrs.field(factory=dict)
    broken: str | None = None
    permanent: bool = False
    unlistable: bool = False
    lists: int = 0
    list_gate: asyncio.Event | None = None
    extra: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    host: Host | None = None
    connects: int = 0
    closes: int = 0
    open: int = 0
    calls: list[ToolCall] = attrs.field(factory=list)
    targets: list[ServerTarget] = attrs.field(factory=list)
    connections: list[Link] = attrs.field(factory=list)
    connect_gate: asyncio.Event | None = None
    busy: asyncio.Event = attrs.field(factory=asyncio.Event)


class Link:
    """One connection to a server of the fleet."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.alive = True
        self.killed = False
        self.closed = False

    async def list_tools(self) -> ServerListing:
        self.server.lists += 1
        if self.server.list_gate is not None:
            await self.server.list_gate.wait()
        if self.server.unlistable:
            raise ConnectFailedError("it cannot list its tools")
        tools = tuple(
            ListedTool(
                name=name,
                description=f"{name} of {self.server.name}",
                wire=wire_of(self.server.name, name, self.server.schemas) | self.server.extra.get(name, {}),
            )
            for name in self.server.tools
        )
        return ServerListing(
            server_info={"name": self.server.name}, protocol_version="1", instructions=None, tools=tools
        )

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        if not self.alive:
            return ToolFailure(kind="connection_lost", message="the server is gone", text="gone")
        self.server.calls.append(call)
        self.server.busy.set()
        return await self.server.tools[call.tool](call.arguments)

    async def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.alive = False
            self.server.closes += 1
            self.server.open -= 1


def wire_of(server: str, tool: str, schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool in wire form; one that `schemas` does not name takes a text."""
    return {"name": tool, "description": f"{tool} of {server}", "inputSchema": schemas.get(tool, SCHEMA)}


async def echo(arguments: Mapping[str, Any]) -> ToolResult:
    """Answer with the arguments."""
    return ToolResult.of_text(json.dumps(arguments))


class Fleet:
    """Collects servers, capabilities and agents; `open` writes the bundle and opens it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.servers: dict[str, Server] = {}
        self._entries: list[ServerEntry] = []
        self._tools: list[ToolEntry] = []
        self._capabilities: list[CapabilityEntry] = []
        self._agents: list[AgentEntry] = []
        self._deps: list[DepEntry] = []
        self._skills: list[SkillEntry] = []
        self._triggers: list[str] = []
        self.tenants: list[TenantEntry] = []
        self._blobs = BlobBuilder()
        self._texts = BlobBuilder()
        self._numbers = itertools.count()
        self.embedder = WordEmbedder()
        self.env: dict[str, str] = {}
        # Nothing is kept of results, so that a session's tools are the fleet's: tests of `read_result` say otherwise.
        self.settings = Settings(results=ResultSettings(store_memory_bytes=0, store_disk_bytes=0))
        self.finished: list[tuple[Any, ...]] = []
        self.gate: Gate | None = Gate(kind="octomind", threshold=0.55, margin=0.08)

    def server(
        self,
        name: str,
        tools: Sequence[str] | Mapping[str, Handler] = (),
        schemas: Mapping[str, Any] | None = None,
        policies: Sequence[ToolPolicy] = (),
        **fields: Any,
    ) -> Server:
        """Add a server; it is listed unless `listed=False` says otherwise. `schemas` are those of its tools by name.

        `policies` are its entry's `tools`.
        """
        handlers: dict[str, Handler] = {}
        handlers.update(tools if isinstance(tools, Mapping) else dict.fromkeys(tools, echo))
        made = self.servers[name] = Server(name, handlers, schemas or {})
        entry = ServerEntry(
            **{"name": name, "transport": "stdio", "command": name, "listed": True, "tools": tuple(policies), **fields}
        )
        self._entries.append(entry)
        if entry.listed:
            ids = [ToolId(name, tool) for tool in handlers]
            style: Any = self.settings.alias_style
            for tool, alias in make_aliases(ids, style).items():
                wire = wire_of(name, tool.tool, made.schemas)
                where = self._blobs.add(json.dumps(wire).encode())
                description = wire["description"]
                self._tools.append(
                    ToolEntry(server=name, name=tool.tool, alias=alias, description=description, wire=where)
                )
        return made

    def index(self, *names: str) -> tuple[int, ...]:
        """Return the numbers of tools that are written `server/tool`."""
        known = {f"{tool.server}/{tool.name}": index for index, tool in enumerate(self._tools)}
        return tuple(known[name] for name in names)

    def grant(self, server: str, *globs: str) -> Grant:
        """Return a grant on a server that matches its listed tools."""
        wanted = globs or ("*",)
        tools = (i for i, t in enumerate(self._tools) if t.server == server and any_glob_matches(wanted, t.name))
        return Grant(server=server, globs=wanted, tools=tuple(tools))

    def capability(self, name: str, *grants: Grant, triggers: Sequence[str] = (), **fields: Any) -> None:
        """Add a capability."""
        rows = (len(self._triggers), len(self._triggers) + len(triggers))
        self._triggers += triggers
        self._capabilities.append(
            CapabilityEntry(name=name, provider="p", grants=grants, triggers=tuple(triggers), rows=rows, **fields)
        )

    def dep(self, name: str, script: str = "", *, program: str | None = None, digest: str | None = None) -> None:
        """Add a dependency with its script; `digest` is the script's own unless another one is given."""
        own = sha256_hex(script.encode())
        found = DepEntry(
            name=name,
            program=program,
            script=self._texts.add_text(script),
            digest=own if digest is None else digest,
        )
        self._deps.append(found)

    def skill(self, name: str, body: str = "Do it well.", *, validate: str = "", **fields: Any) -> None:
        """Add a skill; `rules` are its lines, `validate` the text of its script."""
        script: dict[str, Any] = {
            "validate": self._texts.add_text(validate),
            "validate_digest": sha256_hex(validate.encode()),
        }
        self._skills.append(
            SkillEntry(
                **{"name": name, "description": f"The skill {name}", "body": self._texts.add_text(body), **fields},
                **(script if validate else {}),
            )
        )

    def agent(
        self,
        name: str = "supervisor",
        *,
        domain: str | None = None,
        tenants: Sequence[str] = (),
        settings: AgentSettings | None = None,
        **registry: Any,
    ) -> None:
        """Add an agent; by default its registry has all tools and all capabilities."""
        fields: dict[str, Any] = {
            "tools": tuple(range(len(self._tools))),
            "capabilities": tuple(sorted(capability.name for capability in self._capabilities)),
            "skills": tuple(sorted(skill.name for skill in self._skills)),
            **registry,
        }
        prompt = self._texts.add_text(f"You are {name}.")
        entry = AgentEntry(
            name=name,
            kind="octo",
            domain=domain,
            prompt=prompt,
            registry=Registry(**fields),
            tenants=tuple(tenants),
            settings=settings or AgentSettings(),
        )
        self._agents.append(entry)

    def write(self) -> Path:
        """Write the bundle and return where it is."""
        vectors = [self.embedder.embed(text) for text in self._triggers]
        bundle = Bundle(
            name="fleet",
            octoc_version="0",
            settings=self.settings,
            servers=tuple(self._entries),
            tools=tuple(self._tools),
            capabilities=tuple(self._capabilities),
            agents=tuple(self._agents),
            encoder=Encoder(name="words", identity="words-1", dimension=64),
            gate=self.gate,
            deps=tuple(self._deps),
            skills=tuple(self._skills),
            tenants=tuple(self.tenants),
        )
        arrays = {"triggers": np.array(vectors, np.float32)} if vectors else {}
        phrases = phrases_of(line for skill in self._skills for line in skill.rules)
        if phrases:
            arrays["skills/phrases"] = np.array([self.embedder.embed(text) for text in phrases], np.float32)
        path = self._folder / f"fleet{next(self._numbers)}.octoc"
        path.write_bytes(
            write_bundle(bundle, blobs={"tools": self._blobs.data, "texts": self._texts.data}, arrays=arrays)
        )
        return path

    def open(self, **options: Any) -> Runtime:
        """Write the bundle and open it, with the fleet as the transport `stdio`."""
        options = {"embedder": self.embedder, **options}
        return Runtime.open(self.write(), plugins=plugins_of(self, env=self.env), workspace=self._folder, **options)

    @hookimpl
    def octoc_make_transport(self, kind: str) -> Fleet | None:
        return self if kind == "stdio" else None

    @hookimpl
    def octoc_call_finished(
        self, server: str, call: ToolCall, outcome: ToolResult | ToolFailure, seconds: float
    ) -> None:
        self.finished.append((call.caller.agent, server, call.tool, outcome.ok))

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Link:
        """Connect to a server of the fleet; also what makes the fleet a transport."""
        server = self.servers[target.name]
        server.connects += 1
        server.targets.append(target)
        server.host = host
        server.busy.set()
        if server.connect_gate is not None:
            await server.connect_gate.wait()
        if server.broken is not None:
            raise ConnectFailedError(server.broken, permanent=server.permanent)
        server.open += 1
        link = Link(server)
        server.connections.append(link)
        return link


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    """An empty fleet."""
    return Fleet(tmp_path)


@pytest.fixture
def new_fleet(tmp_path: Path) -> Callable[[], Fleet]:
    """A function that makes an empty fleet, for tests that run many."""
    return lambda: Fleet(tmp_path)


NextFleet = Callable[[], Fleet]


@pytest.fixture
def next_fleet(tmp_path: Path) -> NextFleet:
    """A function that makes the fleet of the next bundle, which is written beside the one that is mapped."""
    folder = tmp_path / "next"
    folder.mkdir()
    return lambda: Fleet(folder)
