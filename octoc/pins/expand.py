"""Schemas with definitions in place of references to them, so that a change shows where a definition is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.formats.walk import MANY, NAMED, ONE
from octoc.json_pointer import key_of_token

_MAX_SCHEMAS = 20_000
_DEFINITIONS = frozenset({"$defs", "definitions"})
_IDENTIFIERS = frozenset({"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveRef", "id"})
TEXTS = frozenset({"$comment", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"})
"""Keywords that only describe."""


class _NotExpandableError(Exception):  # tells `expanded` to return the schema as it is
    """A reference is recursive, leads outside or has keywords beside it, or the schema would be too large."""


def expanded(schema: Any) -> Any:
    """Return a schema without `$ref` and `$defs`; unchanged if it is recursive, uses identifiers, or becomes huge."""
    if not isinstance(schema, Mapping) or not (_DEFINITIONS & schema.keys()):
        return schema
    try:
        return _Expander(schema).expand(schema, ())
    except (_NotExpandableError, RecursionError):
        return schema


class _Expander:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._count = 0

    def expand(self, schema: Any, inside: tuple[str, ...]) -> Any:
        """Return a schema with its references replaced; `inside` are those that led to it."""
        if not isinstance(schema, Mapping):
            return schema
        self._count += 1
        if self._count > _MAX_SCHEMAS or (_IDENTIFIERS & schema.keys()):
            raise _NotExpandableError
        if "$ref" not in schema:
            return {key: self._value(key, value, inside) for key, value in schema.items() if key not in _DEFINITIONS}
        reference = schema["$ref"]
        texts = {key: value for key, value in schema.items() if key in TEXTS or key == "default"}
        if reference in inside or len(texts) != len(schema.keys() - _DEFINITIONS) - 1:
            raise _NotExpandableError
        target = self.expand(self._target(reference), (*inside, reference))
        return {**target, **texts} if isinstance(target, Mapping) else target

    def _value(self, key: str, value: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(value, Mapping):
            if key in NAMED:
                return {name: self.expand(item, inside) for name, item in value.items()}
            return self.expand(value, inside) if key in ONE else value
        if isinstance(value, list) and key in MANY:
            return [self.expand(item, inside) for item in value]
        return value

    def _target(self, reference: Any) -> Any:
        current: Any = self._root
        if not isinstance(reference, str) or not reference.startswith("#/"):
            raise _NotExpandableError
        for token in reference[2:].split("/"):
            key = key_of_token(token)
            if not isinstance(current, Mapping) or key not in current:
                raise _NotExpandableError
            current = current[key]
        return current
