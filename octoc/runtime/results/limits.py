"""The limits of a result that a model sees: the workspace's, a tool's own, or a trusted server's for its tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.model import ResultSettings, ServerEntry
from octoc.choices import KeptPart, ResultProfile
from octoc.runtime.tools.policy import policy_of

if TYPE_CHECKING:
    from octoc.names import ToolId
    from octoc.runtime.catalog.catalog import Catalog

OCTOPUS_MAX_TOKENS = 2000
"""Source: Octopus, tool result truncator, its default."""
SIZE_HINT = "anthropic/maxResultSizeChars"
SIZE_HINT_CEILING = 500_000
"""Source: Claude Code, MCP output limits: a tool's `_meta` may raise its own limit up to that."""


@attrs.frozen(kw_only=True)
class ResultLimits:
    """The effective limits of a result, as in `ResultSettings`. `max_tokens` 0 sets no limit, or 2,000 in `octopus`."""

    profile: ResultProfile = "octo"
    max_chars: int = 40000
    max_tokens: int = 0
    keep: KeptPart = "head"
    max_media_bytes: int = 5 * 1024 * 1024

    @property
    def tokens(self) -> int:
        """The limit in tokens; 0 means no limit."""
        return self.max_tokens or (OCTOPUS_MAX_TOKENS if self.profile == "octopus" else 0)


def limits_of(
    settings: ResultSettings,
    server: ServerEntry | None = None,
    tool: str = "",
    meta: Callable[[], Any] | None = None,
) -> ResultLimits:
    """Return the limits for a tool's results, or for octoc's own tools without a server.

    A limit for the tool in octoc.toml takes precedence over that of a trusted server in `_meta`, which `meta` returns.
    """
    limits = ResultLimits(
        profile=settings.profile,
        max_chars=settings.max_chars,
        max_tokens=settings.max_tokens,
        keep=settings.keep if settings.profile == "octoc" else "head",
        max_media_bytes=settings.max_media_bytes,
    )
    if server is None:
        return limits
    policy = policy_of(server, tool)
    if policy is not None and policy.keep is not None and settings.profile == "octoc":
        limits = attrs.evolve(limits, keep=policy.keep)
    if policy is not None and policy.max_chars is not None:
        return attrs.evolve(limits, max_chars=policy.max_chars)
    hints = meta() if server.trusted and meta is not None else None
    wanted = hints.get(SIZE_HINT) if isinstance(hints, dict) else None
    if isinstance(wanted, int) and not isinstance(wanted, bool) and wanted > 0:
        return attrs.evolve(limits, max_chars=min(wanted, SIZE_HINT_CEILING))
    return limits


class ToolLimits:
    """The limits of one bundle's tools, each computed once while the set of tools does not change."""

    def __init__(self, catalog: Catalog, servers: Mapping[str, ServerEntry], settings: ResultSettings) -> None:
        self._catalog = catalog
        self._servers = servers
        self._settings = settings
        self._of: dict[ToolId | None, ResultLimits] = {}
        self._tools = catalog.generation

    def of(self, tool: ToolId | None) -> ResultLimits:
        """Return the limits for a tool's results; None is one of octoc's own tools."""
        if self._tools != self._catalog.generation:
            self._tools = self._catalog.generation
            self._of.clear()
        if tool not in self._of:
            if tool is None:
                self._of[tool] = limits_of(self._settings)
            else:
                server = self._servers.get(tool.server)
                self._of[tool] = limits_of(self._settings, server, tool.tool, lambda: self._meta(tool))
        return self._of[tool]

    def _meta(self, tool: ToolId) -> Any:
        index = self._catalog.find(tool)
        return None if index is None else self._catalog.wire(index).get("_meta")
