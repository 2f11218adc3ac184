"""Where JSON Schema has schemas inside schemas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from octoc.json_pointer import pointer_to

if TYPE_CHECKING:
    from octoc.diagnostics.model import KeyPath

ONE = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
        "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords whose value is a schema; `items` may also be a list of them, as in drafts before 2020-12."""
MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
"""Keywords whose value is a list of schemas."""
NAMED = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
"""Keywords whose value is an object of schemas; in `dependencies` some may be lists of names."""


def subschemas(schema: Any) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    """Yield each schema that is an object, with its path from the root: the root first, then in the file's order."""
    waiting: list[tuple[KeyPath, Any]] = [((), schema)]
    while waiting:
        path, current = waiting.pop()
        if not isinstance(current, dict):
            continue
        yield path, current
        inside: list[tuple[KeyPath, Any]] = []
        for key, value in current.items():
            if isinstance(value, dict):
                if key in NAMED:
                    inside.extend(((*path, key, name), item) for name, item in value.items())
                elif key in ONE:
                    inside.append(((*path, key), value))
            elif isinstance(value, list) and key in MANY:
                inside.extend(((*path, key, index), item) for index, item in enumerate(value))
        waiting.extend(reversed(inside))


def pointer(path: KeyPath) -> str:
    """Return a path as a JSON Pointer in a URI fragment: `#/properties/a~1b`; `#` is the root."""
    return f"#{pointer_to(path)}"
