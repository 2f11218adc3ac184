"""What each provider refuses, written from its documentation and its answers and not from the code under test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema

Json = Any
GEMINI_FIELDS = {
    *("type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required"),
    *("minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "default", "items"),
    *("propertyOrdering", "minimum", "maximum"),
}
"""Every field of Gemini's object `Schema`."""
NESTED = ("properties", "$defs", "definitions", "patternProperties")


def _inside(schema: Json) -> Iterator[Json]:
    """Yield what a schema is made of, itself too, written anew for the checks."""
    yield schema
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key in NESTED and isinstance(value, dict):
            for one in value.values():
                yield from _inside(one)
        elif key in ("items", "additionalProperties", "not", "if", "then", "else", "propertyNames", "contains"):
            yield from _inside(value)
        if key in ("anyOf", "oneOf", "allOf", "prefixItems", "items") and isinstance(value, list):
            for one in value:
                yield from _inside(one)


def anthropic_refuses(schema: Json) -> list[str]:
    """Return why the Messages API would refuse an `input_schema`."""
    found = [f"top-level {key}" for key in ("oneOf", "allOf", "anyOf") if key in schema]
    if schema.get("type") != "object":
        found.append("input_schema.type: Input should be 'object'")
    names = schema.get("properties", {})
    found += [f"property key {name!r}" for name in names if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name)]
    plain = {key: value for key, value in schema.items() if key != "$schema"}
    found += [error.message for error in jsonschema.Draft202012Validator(META).iter_errors(plain)]
    return found


META = jsonschema.Draft202012Validator.META_SCHEMA


def openai_refuses(schema: Json) -> list[str]:
    """Return why Chat Completions would refuse a function's `parameters`, without strict mode."""
    top = ("oneOf", "anyOf", "allOf", "enum", "const", "not")
    found = [f"top-level {key}" for key in top if key in schema]
    if schema.get("type") != "object":
        found.append("schema must be a JSON Schema of 'type: \"object\"'")
    if "properties" not in schema:
        found.append("object schema missing properties")
    for one in _inside(schema):
        if not isinstance(one, dict):
            continue
        if one.get("type") == "array" and "items" not in one and "prefixItems" not in one:
            found.append("array schema missing items")
        if one.get("enum") == []:
            found.append("enum [] should be non-empty")
        if any(isinstance(value, bool) for value in one.get("properties", {}).values()):
            found.append("property is not an object")
    return found


def gemini_refuses(schema: Json) -> list[str]:
    """Return why Gemini would refuse `FunctionDeclaration.parameters`; None means a tool without parameters."""
    if schema is None:
        return []
    found = [] if schema.get("type") == "object" else ["type should be OBJECT"]
    named = r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"
    found += [f"parameter {name!r}" for name in schema.get("properties", {}) if not re.fullmatch(named, name)]
    return found + _gemini_refuses(schema)


def _gemini_refuses(one: Json) -> list[str]:
    if not isinstance(one, dict):
        return [f"{one!r} is not a schema"]
    found = [f"Unknown name {key!r}" for key in one if key not in GEMINI_FIELDS]
    if "anyOf" in one:
        if set(one) != {"anyOf"}:
            found.append("any_of must be the only field set")
        return found + [why for part in one["anyOf"] for why in _gemini_refuses(part)]
    kind = one.get("type")
    if kind not in ("string", "number", "integer", "boolean", "array", "object"):
        return [*found, f"type {kind!r}"]
    if "enum" in one:
        texts = one["enum"]
        if kind != "string" or not texts or not all(isinstance(value, str) and value for value in texts):
            found.append(f"enum {texts!r} of {kind}")
    allowed = {"string": ("enum", "date-time"), "number": ("float", "double"), "integer": ("int32", "int64")}
    if "format" in one and one["format"] not in allowed.get(kind, ()):
        found.append(f"format {one['format']!r}")
    if kind == "array":
        found += _gemini_refuses(one["items"]) if "items" in one else ["items: missing field"]
    if kind == "object":
        if not one.get("properties"):
            found.append("properties: should be non-empty for OBJECT type")
        found += [why for part in one.get("properties", {}).values() for why in _gemini_refuses(part)]
        undefined = [name for name in one.get("required", ()) if name not in one.get("properties", {})]
        found += [f"required: {name!r} is not defined" for name in undefined]
    return found


REFUSES: dict[str, Callable[[Json], list[str]]] = {
    "anthropic": anthropic_refuses,
    "openai": openai_refuses,
    "gemini": gemini_refuses,
}


def as_json_schema(schema: Json) -> Json:
    """Return a schema of Gemini as JSON Schema, for a validator."""
    if not isinstance(schema, dict):
        return schema
    made = {key: value for key, value in schema.items() if key not in ("nullable", "properties", "anyOf", "items")}
    if "properties" in schema:
        made["properties"] = {name: as_json_schema(one) for name, one in schema["properties"].items()}
    if "items" in schema:
        made["items"] = as_json_schema(schema["items"])
    if "anyOf" in schema:
        made["anyOf"] = [as_json_schema(one) for one in schema["anyOf"]]
    return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") else made


def is_valid(schema: Json, value: Json) -> bool:
    """Tell whether a schema takes a value; drawn ones are of draft 7, where `items` may be a list."""
    return bool(jsonschema.Draft7Validator(schema).is_valid(value))
