"""Recorded tools in any JSON file: an answer to `tools/list`, a catalogue of a test, a list that a server ships.

Octoc's own record, `snapshots/<server>.json`, is a kind of its own. Source: MCP specification 2025-11-25, tools.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from octoc.diagnostics.model import DiagnosticSink, KeyPath, Place
from octoc.json_limits import MAX_LISTING_ELEMENTS, excess
from octoc.plugin.file_kinds import FileKind

SCHEMA_KEYS = ("inputSchema", "input_schema")
"""The key of a tool's arguments, as MCP writes it and as some clients do."""
_HEAD = re.compile(r'\s*[\[{].*"input(?:Schema|_schema)"\s*:', re.DOTALL)
_LISTS: tuple[KeyPath, ...] = ((), ("tools",), ("result", "tools"), ("result", "result", "tools"))


def may_have_tools(head: str) -> bool:
    """Tell whether a JSON file that begins with `head` may list tools."""
    is_named = '"name"' in head and ('"description"' in head or '"tools"' in head)
    return is_named and _HEAD.match(head) is not None


def tools_in(value: Any) -> Iterator[tuple[KeyPath, Mapping[str, Any]]]:
    """Yield the path and the definition of each tool in a list, in an answer with `tools`, or in an object by name."""
    for path in _LISTS:
        inner = value
        for key in path:
            inner = inner.get(key) if isinstance(inner, Mapping) else None
        items: list[tuple[int | str, Any]] = []
        if isinstance(inner, list):
            items = list(enumerate(inner))
        elif isinstance(inner, Mapping) and path in ((), ("tools",)):
            items = [(name, tool) for name, tool in inner.items() if _is_tool(tool) and tool["name"] == name]
        # A tool may have no description: where the file says that it lists tools, it is one all the same.
        yield from (((*path, key), tool) for key, tool in items if _is_tool(tool, () if path else ("description",)))


def read_tools(text: str, _: Place, __: DiagnosticSink) -> Mapping[str, Any]:
    """Return what the file lists as `list`. No client reads the file, so nothing is reported of its form."""
    return {"list": _value(text)}


def has_tools(text: str) -> bool:
    """Tell whether a JSON text lists tools."""
    return any(True for _ in tools_in(_value(text)))


def _value(text: str) -> Any:
    if excess(text.encode(errors="replace"), MAX_LISTING_ELEMENTS) is not None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_tool(value: Any, texts: tuple[str, ...] = ("description",)) -> bool:
    return (
        isinstance(value, Mapping)
        and all(isinstance(value.get(key), str) for key in ("name", *texts))
        and any(isinstance(value.get(key), Mapping) for key in SCHEMA_KEYS)
    )


TOOL_LIST = FileKind(
    name="tool-list",
    syntax="json",
    schema={"type": "object"},
    read=read_tools,
    recognize=lambda values: any(True for _ in tools_in(values)),
    may_be=may_have_tools,
    is_one=has_tools,
    scan="everywhere",
    is_complete=True,
    lists_tools=True,
    limit="max_snapshot_bytes",
)
