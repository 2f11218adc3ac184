"""Find references of a schema that have no target in it, or that lead back to themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from octoc.compiler.lint.tools.dialects import DIALECTS
from octoc.diagnostics.model import KeyPath
from octoc.formats.references import MISSING, Resources
from octoc.formats.walk import subschemas

_REFS = ("$ref", "$dynamicRef", "$recursiveRef")


def broken_references(schema: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield path, text and the reason for each reference without a schema as its target."""
    referring = [(path, one) for path, one in subschemas(schema) if any(key in one for key in _REFS)]
    if not referring:
        return
    resources = Resources(schema)
    for path, one in referring:
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
        return "is not in the schema, and octoc does not fetch schemas"
    target = resources.target(path, reference)
    if target is MISSING:
        return "is not in the schema"
    return "" if isinstance(target, dict | bool) else "is not a schema"


def _circle(resources: Resources, path: KeyPath, one: Mapping[str, Any]) -> str:
    """Return a reason if a chain of references leads back to its start."""
    seen: list[int] = []
    current: Any = one
    while isinstance(current, dict) and isinstance(current.get("$ref"), str):
        if id(current) in seen:
            return "leads back to itself" if current is one else ""
        seen.append(id(current))
        # Each step uses the base of the start, so that this does not find circles over several resources.
        current = resources.target(path, current["$ref"])
    return ""
