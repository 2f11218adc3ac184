"""The two ways in which Octomind reads `allowed_tools`: merged into an agent's role, and for one capability.

octoc has one way: patterns filter the servers of their own file. A tap that works in both must not depend on the
difference between Octomind's two. Sources: Octomind's `RoleMcpConfig`, `filter_for_server` and `resolve_capabilities`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from octoc.compiler.model.located import Located
from octoc.compiler.model.source import AgentSource, ProviderSource, ServerSource
from octoc.names import ToolPattern


@attrs.frozen(kw_only=True)
class MergedPattern:
    """One entry of a merged `allowed_tools`. `owner` is the first capability that has it; None means the agent."""

    located: Located[str]
    owner: str | None

    @property
    def parsed(self) -> ToolPattern:
        return ToolPattern.parse(self.located.value)


@attrs.frozen(kw_only=True)
class MergedRole:
    """An agent's role after the merge. `server_refs` and `patterns` keep their order; a first definition wins."""

    server_refs: tuple[str, ...]
    patterns: tuple[MergedPattern, ...]
    servers: Mapping[str, ServerSource]


def merge_role(agent: AgentSource, capabilities: Sequence[tuple[str, ProviderSource]]) -> MergedRole:
    """Merge a manifest with its capabilities in the order written, without repeated strings and names.

    The first definition of a server wins. Domains and triggers do not matter.
    """
    refs = [located.value for located in agent.server_refs]
    patterns = [MergedPattern(located=located, owner=None) for located in agent.allowed_tools or ()]
    servers = {server.name: server for server in agent.inline_servers}
    for name, provider in capabilities:
        refs.extend(located.value for located in provider.server_refs or ())
        patterns.extend(MergedPattern(located=located, owner=name) for located in provider.allowed_tools or ())
        for server in provider.servers:
            servers.setdefault(server.name, server)
    first: dict[str, MergedPattern] = {}
    for pattern in patterns:
        first.setdefault(pattern.located.value, pattern)
    return MergedRole(server_refs=tuple(dict.fromkeys(refs)), patterns=tuple(first.values()), servers=servers)


def static_filter(role: MergedRole, server: str) -> tuple[MergedPattern, ...] | None:
    """Return the patterns that Octomind applies to one server of a merged role.

    Returns: None for every tool; `()` when no pattern applies to the server, which Octomind then drops.
    """
    if not role.patterns:
        return None
    reaching = tuple(pattern for pattern in role.patterns if pattern.parsed.server in (None, server))
    if any(pattern.parsed == ToolPattern(server, "*") for pattern in reaching):
        return None
    return reaching


def dynamic_filter(provider: ProviderSource, server: str) -> tuple[Located[str], ...] | None:
    """Return the patterns that Octomind applies to a server when one capability is activated.

    Returns: None for every tool, also when all patterns are for other servers (Octomind fails open).
    """
    reaching = tuple(
        located for located in provider.allowed_tools or () if ToolPattern.parse(located.value).server in (None, server)
    )
    return reaching or None
