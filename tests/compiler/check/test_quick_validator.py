"""The quick validator finds what `jsonschema` finds."""

import itertools
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from octoc.compiler.check.quick_validator import quick_validator

SCHEMAS: tuple[dict[str, Any], ...] = (
    {"type": "string", "description": "a text"},
    {"type": ["string", "null"]},
    {"type": "integer"},
    {"type": "number", "minimum": 2},
    {"type": "boolean"},
    {"type": "array", "items": {"type": "string"}},
    {"type": "array", "items": {"type": "integer", "maximum": 3}},
    {"type": "array", "items": {"type": "array", "items": {"type": "string"}}, "minItems": 2},
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": ["x"]}}, "required": ["a"]},
    {"type": "string", "pattern": "y|^$"},
    {"type": "string", "enum": ["x", "y"], "x-octoc-rule": "A"},
    {"type": ["number", "null"], "minimum": 1, "maximum": 2},
    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
    {"type": "object", "additionalProperties": {"type": "string", "pattern": "x"}},
    {"type": ["object", "array"], "items": {"type": "string"}, "minItems": 1, "required": ["b"]},
    {"type": "string", "maxLength": 0},
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    {"$ref": "#/$defs/text"},
)
VALUES: tuple[Any, ...] = (
    *("x", "", 1, 2.0, 2.5, True, None, [], ["x"], ["x", 1], [1, 4], [["x"], ["y"]], [["x"], [1]], ["x", None]),
    *({}, {"a": "x"}, {"a": 1}, {"a": "x", "b": "y"}, {"b": "x"}),
)


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_the_quick_validator_finds_the_same_errors(schema: dict[str, Any]) -> None:
    """Messages, paths and the parts of the schema are those of `Draft202012Validator`, in its order."""
    whole = {
        "$defs": {"text": {"type": "string"}},
        "properties": {"k": schema, "l": {"type": "array", "items": schema}},
    }
    for one, other in itertools.product(VALUES, repeat=2):
        instance = {"k": one, "l": [other, one], "m": 1}
        found, expected = (
            [(each.message, list(each.absolute_path), list(each.schema_path), each.validator) for each in errors]
            for errors in (
                quick_validator()(whole).iter_errors(instance),
                Draft202012Validator(whole).iter_errors(instance),
            )
        )
        assert found == expected
