"""What a schema says of an object, without the keywords that combine schemas: never less than the schema allows."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from typing import Any

import attrs

from octoc.formats.references import MISSING, Resources

COMBINERS = ("allOf", "anyOf", "oneOf")
_MOST = 64
_SHOWN = 200


@attrs.frozen(kw_only=True)
class Facts:
    """Property -> its schemas, what is always required, whether nothing else may be there."""

    properties: Mapping[str, tuple[Any, ...]] = attrs.field(factory=dict)
    required: tuple[str, ...] = ()
    closed: bool = False


def flattened(
    schema: Mapping[str, Any], refused: Container[str], resources: Resources
) -> tuple[dict[str, Any], list[str]]:
    """Return an object's schema without `$ref` and the refused keywords at its top, and what it no longer says."""
    facts = _facts(schema, resources, ()) or Facts()
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
    distinct: list[Any] = []
    for schema in schemas:
        if schema not in distinct:
            distinct.append(schema)
    if True in distinct or not distinct:
        return True
    return distinct[0] if len(distinct) == 1 else {"anyOf": distinct}


def _facts(schema: Any, resources: Resources, seen: tuple[int, ...]) -> Facts | None:
    """Return what is known of an object that a schema takes; None when it takes none."""
    if not isinstance(schema, dict):
        return None if schema is False else Facts()
    kind = schema.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        return None
    if id(schema) in seen or len(seen) >= _MOST:
        return Facts()
    seen = (*seen, id(schema))
    properties = schema.get("properties")
    required = schema.get("required")
    facts = Facts(
        properties={name: (one,) for name, one in properties.items()} if isinstance(properties, dict) else {},
        required=tuple(one for one in required if isinstance(one, str)) if isinstance(required, list) else (),
        closed=schema.get("additionalProperties") is False and not schema.get("patternProperties"),
    )
    parts = list(schema["allOf"]) if isinstance(schema.get("allOf"), list) else []
    if isinstance(schema.get("$ref"), str):
        target = resources.target((), schema["$ref"])
        parts.insert(0, True if target is MISSING else target)
    for part in parts:
        more = _facts(part, resources, seen)
        if more is None:
            return None
        facts = _both(facts, more)
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            found = [one for one in (_facts(part, resources, seen) for part in schema[key]) if one is not None]
            if not found:
                return None
            facts = _both(facts, _either(found))
    return facts


def _both(one: Facts, other: Facts) -> Facts:
    # What both say of a property holds, so either of the two is no less than what is allowed: the one that says more.
    properties = dict(other.properties)
    for name, found in one.properties.items():
        if name not in properties or any(schema not in (True, {}) for schema in found):
            properties[name] = found
    ordered = {name: properties[name] for name in (*one.properties, *properties)}
    return Facts(
        properties=ordered,
        required=tuple(dict.fromkeys([*one.required, *other.required])),
        closed=one.closed or other.closed,
    )


def _either(found: list[Facts]) -> Facts:
    properties: dict[str, tuple[Any, ...]] = {}
    for one in found:
        for name, schemas in one.properties.items():
            properties[name] = (*properties.get(name, ()), *schemas)
    first, *rest = found
    return Facts(
        properties=properties,
        required=tuple(name for name in first.required if all(name in one.required for one in rest)),
        closed=all(one.closed for one in found),
    )


def _told(key: str, value: Any, resources: Resources) -> str:
    if key in ("$ref", "allOf"):
        return ""
    if key in ("anyOf", "oneOf"):
        if not isinstance(value, list):
            return ""
        found = [one for one in (_facts(part, resources, ()) for part in value) if one is not None]
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
    return text if len(text) <= most else text[: most - 1] + "…"
