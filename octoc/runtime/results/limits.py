"""How much of a result a model sees: the workspace's limit, a tool's own, or what a trusted server says of its tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.model import ResultSettings, ServerEntry
from octoc.runtime.tools.policy import policy_of

if TYPE_CHECKING:
    from octoc.names import ToolId
    from octoc.runtime.catalog.registry import Catalog

OCTOPUS_MAX_TOKENS = 2000
"""Source: Octopus, tool result truncator, its default."""
SIZE_HINT = "anthropic/maxResultSizeChars"
SIZE_HINT_CEILING = 500_000
"""Source: Claude Code, MCP output limits: a tool's `_meta` may raise its own limit up to that."""


@attrs.frozen(kw_only=True)
class Limits:
    """The effective limit of a result; the fields as in `ResultSettings`, with `max_tokens` 0 for none.

    In profile `octopus`, 0 tokens are its default of 2,000.
    """

    profile: str = "octo"
    max_chars: int = 40000
    max_tokens: int = 0
    keep: str = "head"
    max_media_bytes: int = 5 * 1024 * 1024

    @property
    def tokens(self) -> int:
        """The limit in tokens; 0 is none."""
        return self.max_tokens or (OCTOPUS_MAX_TOKENS if self.profile == "octopus" else 0)


def limits_of(
    settings: ResultSettings,
    server: ServerEntry | None = None,
    tool: str = "",
    meta: Callable[[], Any] | None = None,
) -> Limits:
    """Return the limits for a tool's results, or for octoc's own tools without a server.

    What octoc.toml says of a tool counts before what a trusted server says of it in `_meta`, which `meta` returns.
    """
    limits = Limits(
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
    said = meta() if server.trusted and meta is not None else None
    wanted = said.get(SIZE_HINT) if isinstance(said, dict) else None
    if isinstance(wanted, int) and not isinstance(wanted, bool) and wanted > 0:
        return attrs.evolve(limits, max_chars=min(wanted, SIZE_HINT_CEILING))
    return limits


class ToolLimits:
    """The limits of one bundle's tools, each worked out once for as long as the set of tools stays what it is."""

    def __init__(self, catalog: Catalog, servers: Mapping[str, ServerEntry], settings: ResultSettings) -> None:
        self._catalog = catalog
        self._servers = servers
        self._settings = settings
        self._of: dict[ToolId | None, Limits] = {}
        self._tools = catalog.generation

    def of(self, tool: ToolId | None) -> Limits:
        """Return the limits for a tool's results; None is one of octoc's own tools."""
        if self._tools != self._catalog.generation:
            self._tools = self._catalog.generation
            self._of.clear()
        found = self._of.get(tool)
        if found is None:
            if tool is None:
                found = limits_of(self._settings)
            else:
                server = self._servers.get(tool.server)
                found = limits_of(self._settings, server, tool.tool, lambda: self._meta(tool))
            self._of[tool] = found
        return found

    def _meta(self, tool: ToolId) -> Any:
        index = self._catalog.find(tool)
        return None if index is None else self._catalog.wire(index).get("_meta")
