"""Schemas of tools, drawn, and arguments that mostly fit a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

Json = Any
TEXTS = st.sampled_from(["", "a", "2024-05-01", '{"a": 1}', "[1]", '"quoted"', "null", "5", "text with { in it", "é"])
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.sampled_from([0.5, 2.0]), TEXTS)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2), max_leaves=4
)
MOST_DEEP = 4


def values_of(schema: Json, root: Json, depth: int = 0) -> st.SearchStrategy[Json]:
    """Return values that mostly fit a schema; whether they do is for a validator to say."""
    if not isinstance(schema, dict) or depth > MOST_DEEP:
        return ANYTHING
    if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#"):
        target = root
        for part in schema["$ref"].split("/")[1:]:
            target = target[part]
        return values_of(target, root, depth + 1)
    if "const" in schema:
        return st.just(schema["const"])
    if schema.get("enum"):
        return st.sampled_from(schema["enum"])
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            rest = {name: value for name, value in schema.items() if name != key}
            return st.one_of([values_of(_both(part, rest), root, depth + 1) for part in schema[key]])
    if schema.get("allOf"):
        whole = {name: value for name, value in schema.items() if name != "allOf"}
        for part in schema["allOf"]:
            whole = _both(part, whole)
        return values_of(whole, root, depth + 1)
    kinds = schema.get("type", "object" if "properties" in schema else None)
    if kinds is None:
        return ANYTHING
    return st.one_of([_of_type(kind, schema, root, depth) for kind in ([kinds] if isinstance(kinds, str) else kinds)])


def _both(part: Json, rest: Mapping[str, Any]) -> Json:
    if not isinstance(part, dict) or "$ref" in part:
        return part if part is not True else dict(rest)
    both = {**rest, **part}
    if "properties" in rest and "properties" in part:
        both["properties"] = {**rest["properties"], **part["properties"]}
    both["required"] = [*rest.get("required", ()), *part.get("required", ())]
    return both


def _of_type(kind: str, schema: Mapping[str, Any], root: Json, depth: int) -> st.SearchStrategy[Json]:
    if kind == "object":
        named = schema.get("properties", {})
        required = {name for name in schema.get("required", ()) if name in named}
        fields = {name: values_of(one, root, depth + 1) for name, one in named.items() if one is not False}
        always = {name: value for name, value in fields.items() if name in required}
        sometimes = {name: value for name, value in fields.items() if name not in required}
        fixed = st.fixed_dictionaries(always, optional=sometimes)
        extra = schema.get("additionalProperties", True)
        if extra is False:
            return fixed
        more = st.dictionaries(st.sampled_from(["extra", "$more"]), values_of(extra, root, depth + 1), max_size=1)
        return st.builds(lambda one, two: {**two, **one}, fixed, more)
    if kind == "array":
        first = schema.get("prefixItems", schema["items"] if isinstance(schema.get("items"), list) else None)
        if first:
            return st.tuples(*(values_of(one, root, depth + 1) for one in first)).map(list)
        least = schema.get("minItems", 0)
        items = values_of(schema.get("items", True), root, depth + 1)
        return st.lists(items, min_size=least, max_size=max(least, 2))
    if kind == "string":
        return TEXTS if "minLength" not in schema else st.text("ab", min_size=schema["minLength"], max_size=200)
    low, high = schema.get("minimum", schema.get("exclusiveMinimum", -9)), schema.get("maximum", 10**6)
    numbers = {
        "integer": st.integers(int(low), int(max(low, high))),
        "number": st.floats(low, max(low, high), allow_nan=False),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    return numbers.get(kind, ANYTHING)


NAMES = st.sampled_from(["a", "b", "filter[x]", "a b", "a_b", "9lives", "$top", "type", "x" * 70, "é"])


def _schemas(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=3)},
        optional={
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "description": st.just("An object"),
        },
    )
    arrays = st.fixed_dictionaries({"type": st.just("array")}, optional={"items": inner, "minItems": st.just(1)})
    tuples = st.fixed_dictionaries({"type": st.just("array"), "items": st.lists(inner, min_size=1, max_size=2)})
    unions = st.builds(
        lambda key, parts: {key: parts},
        st.sampled_from(["anyOf", "oneOf", "allOf"]),
        st.lists(inner, min_size=1, max_size=3),
    )
    return st.one_of(objects, arrays, tuples, unions)


LEAVES: st.SearchStrategy[Json] = st.sampled_from(
    [
        True,
        {},
        {"type": "string"},
        {"type": "string", "format": "uri", "minLength": 1},
        {"type": ["string", "null"], "enum": ["x", "y", None]},
        {"enum": ["x", 1, True, None]},
        {"const": 3},
        {"const": "t"},
        {"type": "integer", "minimum": 1, "multipleOf": 1},
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "boolean"},
        {"type": "null"},
        {"type": "object"},
        {"type": ["object", "array", "string"]},
        {"type": "array"},
        {"$ref": "#/$defs/node"},
        {"$ref": "#/$defs/plain"},
        {"type": "string", "enum": ["", "a"]},
    ]
)
PARTS = st.recursive(LEAVES, _schemas, max_leaves=6)
DEFINITIONS = {
    "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "v": {"type": "integer"}}},
    "plain": {
        "type": "object",
        "properties": {"k": {"type": "string"}},
        "required": ["k"],
        "additionalProperties": False,
    },
}


@st.composite
def schemas(draw: st.DrawFn) -> Json:
    """Draw the input schema of a tool: an object's, perhaps put together, with definitions."""
    made = draw(
        st.fixed_dictionaries(
            {"type": st.just("object")},
            optional={
                "properties": st.dictionaries(NAMES, PARTS, max_size=4),
                "required": st.lists(NAMES, max_size=2, unique=True),
                "additionalProperties": st.booleans() | PARTS,
                "$schema": st.just("http://json-schema.org/draft-07/schema#"),
            },
        )
    )
    objects = _schemas(PARTS).filter(lambda one: one.get("type") == "object")
    key = draw(st.sampled_from([None, None, "anyOf", "oneOf", "allOf"]))
    if key:
        made[key] = draw(st.lists(objects, min_size=1, max_size=3))
    if "#/$defs/" in json.dumps(made):
        made["$defs"] = DEFINITIONS
    return made
