"""The input of registries: servers, capabilities, tools and skills of a workspace by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from octoc.choices import Domainless
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Capability, ScopedTool, Server
from octoc.compiler.model.source import SkillSource
from octoc.names import ToolId


@attrs.frozen(kw_only=True)
class Fleet:
    """Servers, capabilities, tools and skills of a workspace by name."""

    servers: Mapping[str, Server]
    capabilities: Mapping[str, Capability]
    index: Mapping[ToolId, int]
    aliases: Mapping[str, ToolId]
    domainless: Domainless
    skills: Mapping[str, SkillSource] = attrs.field(factory=dict)
    by_grant: frozenset[int] = frozenset()
    """The tools that only a grant gives, whatever the profile: in production those that are direct for some roles."""

    @classmethod
    def of(cls, build: Build, tools: Sequence[ScopedTool]) -> Fleet:
        """Index a resolved workspace."""
        resolved = build.resolved
        built_in = {ToolId(server.name, name) for server in resolved.servers for name in server.roles}
        return cls(
            servers={server.name: server for server in resolved.servers},
            capabilities={capability.name: capability for capability in resolved.capabilities},
            index={tool.id: number for number, tool in enumerate(tools)},
            aliases={tool.alias: tool.id for tool in tools},
            domainless=build.settings.routing.domainless,
            skills={skill.source.name: skill.source for skill in resolved.skills},
            by_grant=frozenset(
                number
                for number, tool in enumerate(tools)
                if tool.id in built_in and build.settings.mode == "production"
            ),
        )
