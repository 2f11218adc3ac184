"""What one mistake makes unusable: the smallest part of a file that can be left out without widening anything.

An element may be cut only where fewer elements mean less: a trigger, a tool of an allow-list. Of a deny-list, or of a
list whose emptiness means "all", one unsound element makes the holder unusable. A key may be cut only where its absence
is harmless. Everything that no pattern names takes its file with it.
"""

from __future__ import annotations

from octoc.compiler.model.documents import FileKind
from octoc.diagnostics.model import KeyPath

_ANY = "*"
SCOPE_TABLES = ("tenants", "areas", "groups", "grants", "overrides", "deny")
"""Tables of scopes: in files of their own, and in octoc.toml."""
ENTITIES_OF_WORKSPACE = frozenset({"taps", *SCOPE_TABLES})
"""Sections of octoc.toml whose entries stand or fall as a whole: no default stands in for a part of one."""


def _under(*prefix: str, of: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple((*prefix, *key.split("/")) for key in of)


_MCP_ENTRY = (
    *("timeout", "timeoutMs", "include_tools/*", "toolFilter/*"),
    *("headersHelper", "alwaysLoad", "stateful", "dev", "sandboxEnabled", "sandbox", "gallery", "version"),
)
_OCTOMIND_SERVERS = (
    ("mcp", "servers", _ANY),
    ("mcp", "servers", _ANY, "timeout_seconds"),
    ("mcp", "servers", _ANY, "auto_bind"),
    ("deps", "require", _ANY),
)
_UNUSED_BY_OCTOC = (
    "permissionMode",
    "maxTurns",
    "hooks",
    "memory",
    "background",
    "effort",
    "isolation",
    "initialPrompt",
)

# A pattern is a key path where `*` is any key or index; the longest that the mistake's path starts with is cut.
_UNITS: dict[FileKind, tuple[tuple[str, ...], ...]] = {
    FileKind.MCP: (
        ("$schema",),
        ("inputs",),
        ("inputs", _ANY),
        ("mcpServers", _ANY),
        ("servers", _ANY),
        *_under("mcpServers", _ANY, of=_MCP_ENTRY),
        *_under("servers", _ANY, of=_MCP_ENTRY),
    ),
    FileKind.CAPABILITY_CONFIG: (("triggers", _ANY),),
    FileKind.CAPABILITY_PROVIDER: (*_OCTOMIND_SERVERS, ("roles", "mcp", "server_refs", _ANY)),
    FileKind.AGENT_MANIFEST: (
        *_OCTOMIND_SERVERS,
        ("capabilities", _ANY),
        ("model",),
        *_under("roles", _ANY, of=("name", "welcome", "temperature", "top_p", "top_k", "model", "mcp/server_refs/*")),
        *_under("roles", _ANY, "model", of=("temperature", "top_p", "top_k")),
    ),
    FileKind.AGENT_MD: (
        ("model",),
        ("color",),
        ("tools", _ANY),
        ("skills",),
        ("skills", _ANY),
        ("mcpServers", _ANY),
        ("mcpServers", _ANY, _ANY),
        *_under("mcpServers", _ANY, _ANY, of=_MCP_ENTRY),
        *_under(of=_UNUSED_BY_OCTOC),
    ),
    FileKind.SKILL: (
        ("title",),
        ("license",),
        ("compatibility",),
        ("metadata",),
        ("domains",),
        ("domains", _ANY),
        ("rules",),
        ("rules", _ANY),
        ("capabilities", _ANY),
        ("allowed-tools", _ANY),
    ),
    FileKind.SNAPSHOT: (
        ("$schema",),
        ("package",),
        ("serverInfo",),
        ("protocolVersion",),
        ("instructions",),
        ("tools", _ANY),
        ("tools", _ANY, "title"),
        ("tools", _ANY, "annotations"),
    ),
    FileKind.FIXTURES: (
        *(("message", _ANY), ("message", _ANY, "note")),
        *(("search", _ANY), ("search", _ANY, "note")),
    ),
    FileKind.BACKGROUND: (("lines", _ANY),),
    FileKind.NEEDS: ((_ANY,), (_ANY, "says", _ANY)),
    FileKind.EXPANDED: ((_ANY,), (_ANY, "says", _ANY)),
    # Half an export would be a workspace that grants something else: it is used whole or not at all.
    FileKind.OCTOPUS_EXPORT: (),
    # What is left of a table could be wider than the table, so nothing smaller is cut; see Document.cut, too.
    FileKind.SCOPES: tuple((table, _ANY) for table in SCOPE_TABLES),
}


def unit_of(kind: FileKind, path: KeyPath) -> KeyPath:
    """Return the path of what a mistake at `path` makes unusable; `()` is the whole file.

    In `octoc.toml` it is the value itself, whose default is used, or the tap or table of scopes that it is part of.
    """
    if kind is FileKind.WORKSPACE:
        return path[:2] if path and path[0] in ENTITIES_OF_WORKSPACE else path
    return max((path[: len(unit)] for unit in _UNITS[kind] if _is_prefix(unit, path)), key=len, default=())


def _is_prefix(unit: tuple[str, ...], path: KeyPath) -> bool:
    return len(unit) <= len(path) and all(
        step in (_ANY, taken) for step, taken in zip(unit, path[: len(unit)], strict=True)
    )
