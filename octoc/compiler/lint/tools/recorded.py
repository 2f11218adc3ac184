"""The recorded tools of a workspace, their places in snapshots, and the agents whose prompts can contain them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import attrs

from octoc.compiler.model.build import Build
from octoc.diagnostics.model import Place
from octoc.lists import some_names
from octoc.names import ToolId

_NAMED = 3


@attrs.frozen(kw_only=True)
class RecordedTool:
    """A tool that its server's filter accepts, and its place in the snapshot."""

    id: ToolId
    place: Place
    wire: Mapping[str, Any]

    @property
    def description(self) -> str:
        return str(self.wire.get("description") or "")

    @property
    def schema(self) -> Any:
        return self.wire.get("inputSchema")


def recorded_tools(build: Build) -> Iterator[RecordedTool]:
    """Yield every tool that its server's filter accepts, in the order of servers and of their snapshots."""
    for server in build.resolved.servers:
        snapshot = server.snapshot
        if snapshot is None:
            continue
        kept = {tool.name for tool in server.tools}
        for index, tool in enumerate(snapshot.listing.tools):
            if tool.name in kept:
                yield RecordedTool(id=ToolId(server.name, tool.name), place=snapshot.place_of(index), wire=tool.wire)


class Prompts:
    """The agents whose prompts can contain a tool's schema: from the start, or while a capability is active."""

    def __init__(self, build: Build) -> None:
        self._build = build

    def note(self, tools: Iterable[ToolId]) -> str:
        """Return one line that names the agents whose prompts can contain one of the tools."""
        agents = sorted({agent for tool in tools for agent in self._agents.get(tool, ())})
        if not agents:
            return "no agent has it in its prompt: agents reach it through `find_tools` and `call_mcp_tool`"
        return f"it can be in the prompt of {some_names(agents, _NAMED)}"

    @cached_property
    def _agents(self) -> Mapping[ToolId, tuple[str, ...]]:
        capabilities = {capability.name: capability for capability in self._build.resolved.capabilities}
        agents: dict[ToolId, list[str]] = {}
        for name, registry in sorted(self._build.scoped.registries.items()):
            tools = {self._build.scoped.tools[index].id for index in registry.direct}
            for capability in registry.capabilities:
                for grant in capabilities[capability].grants:
                    tools.update(grant.tools)
            for tool in tools:
                agents.setdefault(tool, []).append(name)
        return {tool: tuple(names) for tool, names in agents.items()}
