"""Where the `$ref`s of a schema lead. Nothing is ever fetched: what is not in the schema is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urljoin

from octoc.compiler.lint.tools.dialects import DIALECTS
from octoc.compiler.lint.tools.walk import subschemas
from octoc.diagnostics.model import KeyPath

_REFS = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
_MISSING = object()


def broken_references(schema: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str, str]]:
    """Yield path, text and one phrase on each reference that leads nowhere inside the schema."""
    found = [(path, one) for path, one in subschemas(schema) if any(key in one for key in _REFS)]
    if not found:
        return
    resources = _Resources(schema)
    for path, one in found:
        for key in _REFS:
            reference = one.get(key)
            if isinstance(reference, str):
                why = resources.why_broken(path, reference) or (resources.circle(path, one) if key == "$ref" else "")
                if why:
                    yield (*path, key), reference, why


class _Resources:
    """The schema and the schemas inside it that have an identifier of their own, by URI; their anchors."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._base_of: dict[KeyPath, str] = {}
        self._by_uri: dict[str, Any] = {"": schema}
        self._anchors: dict[tuple[str, str], Any] = {}
        for path, one in subschemas(schema):
            base = self._base(path)
            name = one.get("$id", one.get("id") if not path else None)
            if isinstance(name, str):
                uri, fragment = _split(_joined(base, name))
                if fragment and not _split(name)[0]:
                    self._anchors[base, fragment] = one  # an anchor, as drafts up to 7 write it
                else:
                    base = self._base_of[path] = uri
                    self._by_uri[uri] = one
            for key in _ANCHORS:
                if isinstance(one.get(key), str):
                    self._anchors[base, one[key]] = one

    def why_broken(self, path: KeyPath, reference: str) -> str:
        """Return why a reference leads nowhere, or nothing."""
        uri, fragment = _split(_joined(self._base(path), reference))
        if uri not in self._by_uri:
            if uri in DIALECTS and not fragment:
                return ""
            return "is not in the schema, and nothing is ever fetched"
        target = self._target(path, reference)
        if target is _MISSING:
            return "is not in the schema"
        return "" if isinstance(target, dict | bool) else "is no schema"

    def circle(self, path: KeyPath, one: Mapping[str, Any]) -> str:
        """Return a phrase when a reference leads back to itself through nothing but references."""
        seen: list[int] = []
        current: Any = one
        while isinstance(current, dict) and isinstance(current.get("$ref"), str):
            if id(current) in seen:
                return "leads back to itself" if current is one else ""
            seen.append(id(current))
            # Bases inside a circle are those of its start: circles over several resources are not looked for.
            current = self._target(path, current["$ref"])
        return ""

    def _target(self, path: KeyPath, reference: str) -> Any:
        uri, fragment = _split(_joined(self._base(path), reference))
        resource = self._by_uri.get(uri, _MISSING)
        if not fragment or resource is _MISSING:
            return resource
        if not fragment.startswith("/"):
            return self._anchors.get((uri, unquote(fragment)), _MISSING)
        current = resource
        for part in fragment[1:].split("/"):
            key = unquote(part).replace("~1", "/").replace("~0", "~")
            if isinstance(current, dict) and key in current:
                current = current[key]
            elif isinstance(current, list) and key.isascii() and key.isdigit() and int(key) < len(current):
                current = current[int(key)]
            else:
                return _MISSING
        return current

    def _base(self, path: KeyPath) -> str:
        for length in range(len(path), -1, -1):
            base = self._base_of.get(path[:length])
            if base is not None:
                return base
        return ""


def _split(uri: str) -> tuple[str, str]:
    before, _, fragment = uri.partition("#")
    return before, fragment


def _joined(base: str, reference: str) -> str:
    try:
        # `urljoin` leaves a URN alone, which has no hierarchy to join in.
        return base + reference if reference.startswith("#") else urljoin(base, reference)
    except ValueError:
        return reference  # brackets that are no address
