"""References of a schema that lead nowhere inside it, or back to themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from octoc.compiler.lint.tools.dialects import DIALECTS
from octoc.diagnostics.model import KeyPath
from octoc.formats.references import MISSING, Resources
from octoc.formats.walk import subschemas

_REFS = ("$ref", "$dynamicRef", "$recursiveRef")


def broken_references(schema: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield path, text and one phrase on each reference that leads nowhere inside the schema."""
    found = [(path, one) for path, one in subschemas(schema) if any(key in one for key in _REFS)]
    if not found:
        return
    resources = Resources(schema)
    for path, one in found:
        for key in _REFS:
            reference = one.get(key)
            if isinstance(reference, str):
                why = _why_broken(resources, path, reference)
                why = why or (_circle(resources, path, one) if key == "$ref" else "")
                if why:
                    yield (*path, key), reference, why


def _why_broken(resources: Resources, path: KeyPath, reference: str) -> str:
    uri, fragment, is_inside = resources.resource(path, reference)
    if not is_inside:
        if uri in DIALECTS and not fragment:
            return ""
        return "is not in the schema, and nothing is ever fetched"
    target = resources.target(path, reference)
    if target is MISSING:
        return "is not in the schema"
    return "" if isinstance(target, dict | bool) else "is no schema"


def _circle(resources: Resources, path: KeyPath, one: Mapping[str, Any]) -> str:
    """Return a phrase when a reference leads back to itself through nothing but references."""
    seen: list[int] = []
    current: Any = one
    while isinstance(current, dict) and isinstance(current.get("$ref"), str):
        if id(current) in seen:
            return "leads back to itself" if current is one else ""
        seen.append(id(current))
        # Bases inside a circle are those of its start: circles over several resources are not looked for.
        current = resources.target(path, current["$ref"])
    return ""
