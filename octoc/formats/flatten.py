"""What a schema says of an object, without the keywords that combine schemas: never less than the schema allows."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from typing import Any

import attrs

from octoc.formats.references import MISSING, Resources
from octoc.plain_text import shortened

COMBINERS = ("allOf", "anyOf", "oneOf")
_MOST = 64
MAX_VISITS = 2000
"""Schemas that one flattening reads, each as often as something refers to it: references may unfold to any size.
Nothing is known of the others, so that they allow anything."""
_SHOWN = 200


@attrs.frozen(kw_only=True)
class ObjectFacts:
    """Property -> its schemas, what is always required, whether nothing else may be there."""

    properties: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict)
    required: tuple[str, ...] = ()
    closed: bool = False


def flattened(
    schema: Mapping[str, Any], refused: Container[str], resources: Resources
) -> tuple[dict[str, Any], list[str]]:
    """Return an object's schema without `$ref` and the refused keywords at its top, and what it no longer says."""
    facts = _Reader(resources).facts(schema) or ObjectFacts()
    gone = {key for key in schema if key in refused or key == "$ref" or key in COMBINERS}
    notes = [_told(key, schema[key], resources) for key in schema if key in gone]
    flat = {key: value for key, value in schema.items() if key not in gone}
    flat["type"] = "object"
    flat["properties"] = {name: union(found) for name, found in facts.properties.items()}
    flat.pop("required", None)
    if facts.required:
        flat["required"] = list(facts.required)
    if facts.closed:
        flat["additionalProperties"] = False
    return flat, [note for note in notes if note]


def union(schemas: Iterable[Any]) -> Any:
    """Return one schema for whatever any of them takes."""
    found = distinct(schemas)
    if not found or any(schema is True for schema in found):
        return True
    return found[0] if len(found) == 1 else {"anyOf": found}


def distinct(values: Iterable[Any]) -> list[Any]:
    """Return JSON values without repetitions, in their order."""
    found: dict[str, Any] = {}
    for value in values:
        found.setdefault(json.dumps(value, sort_keys=True, default=str), value)
    return list(found.values())


class _Reader:
    """Reads the facts of one schema, within `MAX_VISITS`."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._left = MAX_VISITS

    def facts(self, schema: Any, seen: tuple[int, ...] = ()) -> ObjectFacts | None:
        """Return what is known of an object that a schema takes; None when it takes none."""
        if not isinstance(schema, dict):
            return None if schema is False else ObjectFacts()
        kind = schema.get("type", "object")
        if kind != "object" and not (isinstance(kind, list) and "object" in kind):
            return None
        self._left -= 1
        if id(schema) in seen or len(seen) >= _MOST or self._left < 0:
            return ObjectFacts()
        seen = (*seen, id(schema))
        properties = schema.get("properties")
        required = schema.get("required")
        own = ObjectFacts(
            properties={name: (one,) for name, one in properties.items()} if isinstance(properties, dict) else {},
            required=tuple(one for one in required if isinstance(one, str)) if isinstance(required, list) else (),
            closed=schema.get("additionalProperties") is False and not schema.get("patternProperties"),
        )
        parts = list(schema["allOf"]) if isinstance(schema.get("allOf"), list) else []
        if isinstance(schema.get("$ref"), str):
            target = self._resources.target((), schema["$ref"])
            parts.insert(0, True if target is MISSING else target)
        together = [own]
        for part in parts:
            more = self.facts(part, seen)
            if more is None:
                return None
            together.append(more)
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list):
                found = [one for one in (self.facts(part, seen) for part in schema[key]) if one is not None]
                if not found:
                    return None
                together.append(_either(found))
        return own if len(together) == 1 else _all(together)


def _all(together: list[ObjectFacts]) -> ObjectFacts:
    # What all say of a property holds, so each of them is no less than what is allowed: the first that says something.
    properties: dict[str, tuple[Any, ...]] = {}
    for one in together:
        for name, found in one.properties.items():
            if name not in properties or all(schema in (True, {}) for schema in properties[name]):
                properties[name] = found
    return ObjectFacts(
        properties=properties,
        required=tuple(dict.fromkeys(name for one in together for name in one.required)),
        closed=any(one.closed for one in together),
    )


def _either(found: list[ObjectFacts]) -> ObjectFacts:
    properties: dict[str, list[Any]] = {}
    for one in found:
        for name, schemas in one.properties.items():
            properties.setdefault(name, []).extend(schemas)
    common = set(found[0].required).intersection(*(one.required for one in found[1:]))
    return ObjectFacts(
        properties={name: tuple(schemas) for name, schemas in properties.items()},
        required=tuple(name for name in found[0].required if name in common),
        closed=all(one.closed for one in found),
    )


def _told(key: str, value: Any, resources: Resources) -> str:
    if key in ("$ref", "allOf"):
        return ""
    if key in ("anyOf", "oneOf"):
        if not isinstance(value, list):
            return ""
        reader = _Reader(resources)
        found = [one for one in map(reader.facts, value) if one is not None]
        always = set(_either(found).required) if found else set()
        needs = [" and ".join(f"`{name}`" for name in one.required if name not in always) for one in found]
        if len(needs) < 2 or not all(needs):
            return ""
        return f"Needs {'exactly one' if key == 'oneOf' else 'one'} of: {'; '.join(dict.fromkeys(needs))}."
    words = {"not": "Must not be", "enum": "One of", "const": "Always"}
    return f"{words.get(key, key)}: {brief(value)}."


def brief(value: Any, most: int = _SHOWN) -> str:
    """Return a value as compact JSON, cut."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return shortened(text, most)
