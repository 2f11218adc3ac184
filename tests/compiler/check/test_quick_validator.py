"""The quick validator finds what `jsonschema` finds."""

import itertools
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from octoc.compiler.check.quick_validator import is_met, quick_validator
from octoc.compiler.check.schemas import surely_meets
from octoc.compiler.inputs.mcp.servers import MCP

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
    {"type": "object", "propertyNames": {"type": "string", "pattern": "a"}},
    {"type": "number", "exclusiveMinimum": 2},
    {"allOf": [{"type": "string"}, {"pattern": "x"}]},
    {"type": "null"},
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


@pytest.mark.parametrize("schema", [each for each in SCHEMAS if not {"$ref", "maxLength"} & each.keys()], ids=str)
def test_what_is_surely_met_is_valid(schema: dict[str, Any]) -> None:
    """No value with an error is called sound, and each schema has a value that is."""
    sound = [value for value in VALUES if is_met(schema, value)]
    assert sound or isinstance(schema["type"], list)
    assert all(Draft202012Validator(schema).is_valid(value) for value in sound)


def test_the_definitions_that_a_schema_refers_to_count() -> None:
    """A server that meets the definition of servers is sound without a validator, and one that does not is unsure."""
    assert surely_meets(MCP, {"mcpServers": {"a": {"command": "a-mcp", "args": ["x"], "env": {"A": "b"}}}})
    assert not surely_meets(MCP, {"mcpServers": {"a": {"command": ["a-mcp"]}}})
    assert not surely_meets(MCP, {"mcpServers": {"a/b": {"command": "a-mcp"}}})
