"""Schemas for Anthropic and OpenAI, which take most of JSON Schema: little is changed, and most schemas not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from octoc.formats.flatten import brief, flattened
from octoc.formats.providers import REFUSED_AT_ROOT
from octoc.formats.references import MISSING, Resources
from octoc.formats.walk import MANY, NAMED, ONE, subschemas

MAX_DEPTH = 64
"""Schemas inside schemas deeper than this are left out, so that no walk overflows the stack."""
MAX_INLINED = 5000
"""Schemas that stand in place of references to what has moved: many references to a large schema have no end."""
_DEFINITIONS = ("#/$defs/", "#/definitions/")
_BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))
_OF_NAMES = ("dependentSchemas", "if", "then", "else", "not", "propertyNames", "allOf", "anyOf", "oneOf")
"""Keywords at the top that speak of properties by name, and so cannot stay when names change."""

Change = Callable[[dict[str, Any]], dict[str, Any]]


def for_anthropic(schema: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the schema as draft 2020-12 with an object at its root, and what it no longer says."""
    root, notes = _object_root(schema, REFUSED_AT_ROOT["anthropic"])
    return mapped(root, _current), notes


def for_openai(schema: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the schema with an object that has `properties` at its root, and what it no longer says.

    `properties`, `items` and a filled `enum` are wanted by the 400 answer with code `invalid_function_parameters`.
    """
    root, notes = _object_root(schema, REFUSED_AT_ROOT["openai"])
    changed = mapped(root, _explicit)
    return changed if "properties" in changed else {**changed, "properties": {}}, notes


def renamed(schema: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return an object's schema with other names for some properties at its top. `names` is own name -> shown name."""
    changed = {key: value for key, value in schema.items() if key not in _OF_NAMES}
    changed["properties"] = {names.get(name, name): one for name, one in schema["properties"].items()}
    if isinstance(schema.get("required"), list):
        changed["required"] = [names.get(name, name) for name in schema["required"]]
    for key in ("dependentRequired", "dependencies"):
        changed.pop(key, None)
    return changed


def self_contained(schema: Mapping[str, Any], original: Mapping[str, Any]) -> dict[str, Any]:
    """Return a changed schema whose references lead where they led in the original: what has moved stands in place.

    Beyond `MAX_INLINED` schemas a reference is left out, so that its place allows anything.
    """
    if not any("$ref" in one for _, one in subschemas(schema)):
        return dict(schema)
    resources = Resources(original)
    left = MAX_INLINED
    sizes: dict[int, int] = {}

    def change(one: dict[str, Any]) -> dict[str, Any]:
        nonlocal left
        reference = one.get("$ref")
        if not isinstance(reference, str) or reference.startswith(_DEFINITIONS):
            return one
        target = resources.target((), reference)
        rest = {key: value for key, value in one.items() if key != "$ref"}
        if target is MISSING or not isinstance(target, dict):
            return rest
        if id(target) not in sizes:
            sizes[id(target)] = sum(1 for _ in subschemas(target))
        left -= sizes[id(target)]
        return {**mapped(target, _without_references), **rest} if left >= 0 else rest

    return mapped(schema, change)


def mapped(schema: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """Return a schema with `change` applied to each schema in it, the innermost first; the same one when none changed.

    What lies too deep takes anything.
    """
    made: dict[str, Any] = _mapped(schema, change, 0)
    return made


def _mapped(schema: Any, change: Change, depth: int) -> Any:
    if not isinstance(schema, dict):
        return schema
    if depth > MAX_DEPTH:
        return {}
    new: dict[str, Any] = {}
    same = True
    for key, value in schema.items():
        made = value
        if isinstance(value, dict):
            if key in NAMED:
                made = {name: _mapped(one, change, depth + 1) for name, one in value.items()}
                if all(made[name] is value[name] for name in value):
                    made = value
            elif key in ONE:
                made = _mapped(value, change, depth + 1)
        elif isinstance(value, list) and key in MANY:
            made = [_mapped(one, change, depth + 1) for one in value]
            if all(new_one is one for new_one, one in zip(made, value, strict=True)):
                made = value
        new[key] = made
        same = same and made is value
    return change(schema if same else new)


def _object_root(schema: Mapping[str, Any], refused: frozenset[str]) -> tuple[dict[str, Any], list[str]]:
    if schema.get("type") == "object" and "$ref" not in schema and not refused.intersection(schema):
        return dict(schema), []
    flat, notes = flattened(schema, refused, Resources(schema))
    return self_contained(flat, schema), notes


def _without_references(one: dict[str, Any]) -> dict[str, Any]:
    reference = one.get("$ref")
    if isinstance(reference, str) and not reference.startswith(_DEFINITIONS):
        return {key: value for key, value in one.items() if key != "$ref"}
    return one


def _current(one: dict[str, Any]) -> dict[str, Any]:
    """Write what draft 2020-12 writes otherwise than the drafts before."""
    items = one.get("items")
    bounds = [pair for pair in _BOUNDS if isinstance(one.get(pair[0]), bool)]
    if not isinstance(items, list) and not bounds:
        return one
    changed = {key: value for key, value in one.items() if key not in ("$schema", "additionalItems")}
    if isinstance(items, list):
        del changed["items"]
        if items:
            changed["prefixItems"] = items
        if "additionalItems" in one:
            changed["items"] = one["additionalItems"]
    for exclusive, inclusive in bounds:
        if changed.pop(exclusive) and inclusive in changed:
            changed[exclusive] = changed.pop(inclusive)
    return changed


def _explicit(one: dict[str, Any]) -> dict[str, Any]:
    """Write out what OpenAI wants to see, and schemas that are `true` or `false` as objects."""
    changed = dict(one)
    properties = one.get("properties")
    if isinstance(properties, dict) and any(isinstance(value, bool) for value in properties.values()):
        changed["properties"] = {
            name: {} if value is True else value for name, value in properties.items() if value is not False
        }
    for key in ("anyOf", "oneOf", "allOf"):
        parts = one.get(key)
        if isinstance(parts, list) and any(isinstance(part, bool) for part in parts):
            changed[key] = [{} if part is True else {"not": {}} if part is False else part for part in parts]
    kind, items = one.get("type"), one.get("items")
    is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
    if items is True or (is_array and items is None and "prefixItems" not in one):
        changed["items"] = {}
    elif items is False:
        changed["items"] = {"not": {}}
    if one.get("enum") == []:
        del changed["enum"]
        changed["description"] = f"{one.get('description', '')} No value is right: {brief([])}.".strip()
    return changed if changed != one else one
