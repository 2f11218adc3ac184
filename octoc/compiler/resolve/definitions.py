"""Every definition of a server as its file has it, and every text of one that can contain a reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from octoc.compiler.inputs.mcp.claude import CLAUDE
from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.compiler.model.resolved import Server
from octoc.compiler.model.source import AgentSource, ServerSource, Sources
from octoc.diagnostics.model import KeyPath, Place
from octoc.plugin.file_kinds import Dialect

Moved = Mapping[KeyPath, KeyPath]
"""Where the file has values whose keys it calls otherwise than octoc, both as paths from the definition on."""


@attrs.frozen(kw_only=True)
class Definition:
    """A definition, enabled or not, and the dialect of its file."""

    source: ServerSource
    dialect: Dialect


@attrs.frozen(kw_only=True)
class DefinitionText:
    """A text of a definition. `field` is `command`, `args`, `env`, …; `name` is its variable, header or key.

    Messages use `str()`, which has the client's own keys: `env.API_KEY`, `environment.API_KEY`, `args[2]`.
    """

    field: str
    text: str = attrs.field(repr=False)
    server: Place = attrs.field(repr=False)
    path: KeyPath
    name: str = ""
    index: int | None = None
    moved: Moved = attrs.field(factory=dict, eq=False, repr=False)

    @property
    def place(self) -> Place:
        """Where the text stands, made when a finding needs it: most texts have none."""
        return self.server.child(*self.path)

    def __str__(self) -> str:
        if self.moved and (written := _written(self.path, self.moved)):
            return written
        if self.index is not None:
            return f"{self.field}[{self.index}]"
        return f"{self.field}.{self.name}" if self.name else self.field


def definitions(sources: Sources) -> Iterator[Definition]:
    """Yield each definition of the workspace: MCP files, agents, and every provider of every capability."""
    for file in sources.mcp_files:
        yield from (Definition(source=server, dialect=file.dialect) for server in file.servers)
    for agent in sources.agents:
        dialect = dialect_of_agent(agent)
        yield from (Definition(source=server, dialect=dialect) for server in agent.inline_servers)
    for capability in sources.capabilities:
        for provider in capability.providers.values():
            yield from (Definition(source=server, dialect=OCTOMIND) for server in provider.servers)


def dialect_of_agent(agent: AgentSource) -> Dialect:
    """Return the dialect of the servers that an agent's own file defines."""
    return OCTOMIND if agent.kind == OCTOMIND.name else CLAUDE


def written_name(server: ServerSource | Server, *path: str | int) -> str:
    """Return how a definition's file calls the value at octoc's `path`; empty where it has octoc's own keys."""
    return _written(path, _moved(server))


def _moved(server: ServerSource | Server) -> Moved:
    return server.written if isinstance(server, ServerSource) else {}


def _written(path: KeyPath, moved: Moved) -> str:
    for length in range(len(path), 0, -1) if moved else ():
        if path[:length] in moved:
            origin = (*moved[path[:length]], *path[length:])
            return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in origin).lstrip(".")
    return ""


def values_of(server: ServerSource | Server) -> Iterator[DefinitionText]:
    """Yield every text of a definition whose references are replaced when the server is connected."""
    moved = _moved(server)
    for field, value in server.reached.items():
        key = "envFile" if field == "env_file" else field
        if field == "args":
            for index, text in enumerate(server.args):
                yield DefinitionText(
                    field=key, text=text, server=server.place, path=(key, index), index=index, moved=moved
                )
        elif field != "transport" and value is not None:
            yield from _plain(value, server.place, (key,), "", moved)


def _plain(value: Any, server: Place, path: KeyPath, name: str, moved: Moved) -> Iterator[DefinitionText]:
    if isinstance(value, str):
        yield DefinitionText(field=str(path[0]), text=value, server=server, path=path, name=name, moved=moved)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _plain(item, server, (*path, index), f"{name}[{index}]", moved)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _plain(item, server, (*path, key), f"{name}.{key}" if name else str(key), moved)
