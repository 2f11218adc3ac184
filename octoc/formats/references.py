"""Where the `$ref`s of a schema lead, inside it. Nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

from octoc.formats.walk import subschemas
from octoc.json_pointer import index_of_token, key_of_token

if TYPE_CHECKING:
    from octoc.diagnostics.model import KeyPath

MISSING = object()
"""What a reference has for a target that leads nowhere."""
_ANCHORS = ("$anchor", "$dynamicAnchor")


class Resources:
    """A schema and the schemas inside it that have an identifier of their own, by URI; their anchors."""

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
                    base = uri
                    self._by_uri[uri] = one
            # For every schema, so that the enclosing one of a path is found quickly, at any depth.
            self._base_of[path] = base
            for key in _ANCHORS:
                if isinstance(one.get(key), str):
                    self._anchors[base, one[key]] = one

    def resource(self, path: KeyPath, reference: str) -> tuple[str, str, bool]:
        """Return the URI that a reference at `path` is to, its fragment, and whether that resource is in the schema."""
        uri, fragment = _split(_joined(self._base(path), reference))
        return uri, fragment, uri in self._by_uri

    def target(self, path: KeyPath, reference: str) -> Any:
        """Return the schema that a reference at `path` leads to, or `MISSING`."""
        uri, fragment = _split(_joined(self._base(path), reference))
        resource = self._by_uri.get(uri, MISSING)
        if not fragment or resource is MISSING:
            return resource
        if not fragment.startswith("/"):
            return self._anchors.get((uri, unquote(fragment)), MISSING)
        current = resource
        for part in fragment[1:].split("/"):
            key = key_of_token(unquote(part))
            if isinstance(current, dict) and key in current:
                current = current[key]
            elif isinstance(current, list) and (index := index_of_token(key, len(current))) is not None:
                current = current[index]
            else:
                return MISSING
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
        # `urljoin` does not change a URN, which has no hierarchy.
        return base + reference if reference.startswith("#") else urljoin(base, reference)
    except ValueError:
        return reference  # brackets without an address
