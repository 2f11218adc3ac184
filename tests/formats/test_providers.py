"""What single constructs become for each provider."""

from __future__ import annotations

import json
from typing import Any

import pytest

from octoc.formats import FORMATS, format_of, provider_of
from octoc.formats.providers import PROPERTY_NAMES
from octoc.formats.reading import read, written
from octoc.formats.render import shown
from octoc.formats.rewrite import rewritten, shown_names


def _root(properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **more}


def _gemini(one: Any, **more: Any) -> Any:
    made = rewritten(_root({"x": one}, **more), "gemini")
    assert made.schema is not None
    return made.schema["properties"]["x"]


def test_what_a_provider_takes_stays_as_it_is() -> None:
    """A plain schema has the same bytes for Anthropic and OpenAI, keys in their order."""
    plain = _root({"b": {"type": "string"}, "a": {"$ref": "#/$defs/n"}}, **{"$defs": {"n": {"type": "integer"}}})
    for provider in ("", "anthropic", "openai"):
        made = rewritten(plain, provider)
        assert json.dumps(made.schema) == json.dumps(plain)
        assert (made.reading, made.notes) == (None, ())


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
@pytest.mark.parametrize("key, word", [("oneOf", "exactly one of"), ("anyOf", "one of")])
def test_a_choice_at_the_top_is_told(provider: str, key: str, word: str) -> None:
    """The tool's description states what each alternative requires, and the schema requires none of it."""
    choice = [{"required": ["a"]}, {"required": ["b", "c"]}]
    made = rewritten(_root({name: {"type": "string"} for name in "abc"}, **{key: choice}), provider)
    assert made.notes == (f"Needs {word}: `a`; `b` and `c`.",)
    assert made.schema is not None
    assert "required" not in made.schema


def test_alternatives_at_the_top_become_one_object() -> None:
    """Properties of all alternatives are there, required is what all require, closed is what all close."""
    one = _root({"kind": {"const": "a"}, "x": {"type": "string"}}, required=["kind", "x"], additionalProperties=False)
    two = _root({"kind": {"const": "b"}}, required=["kind"], additionalProperties=False)
    made = rewritten({"anyOf": [{"$ref": "#/$defs/one"}, two], "$defs": {"one": one}}, "anthropic").schema
    assert made is not None
    assert made["properties"] == {"kind": {"anyOf": [{"const": "a"}, {"const": "b"}]}, "x": {"type": "string"}}
    assert (made["type"], made["required"], made["additionalProperties"]) == ("object", ["kind"], False)


def test_drafts_before_2020_are_current_for_anthropic() -> None:
    """A tuple becomes `prefixItems`, and an exclusive bound a number."""
    old = {"type": "array", "items": [{"type": "string"}], "additionalItems": False}
    low = {"type": "number", "minimum": 1, "exclusiveMinimum": True}
    made = rewritten(_root({"x": old, "y": low}), "anthropic").schema
    assert made is not None
    assert made["properties"] == {
        "x": {"type": "array", "prefixItems": [{"type": "string"}], "items": False},
        "y": {"type": "number", "exclusiveMinimum": 1},
    }


@pytest.mark.parametrize(
    "one, told",
    [
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"const": 3}, {"type": "number", "description": "One of 3."}),
        ({"type": ["string", "null"]}, {"type": "string", "nullable": True}),
        ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"enum": ["a", None]}, {"type": "string", "enum": ["a"], "nullable": True}),
        ({"type": "string", "format": "uri"}, {"type": "string", "description": "Format: uri."}),
        ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}),
        ({"type": "integer", "exclusiveMinimum": 0}, {"type": "integer", "description": "More than 0."}),
        ({"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "string"}}),
        ({"allOf": [{"type": "string"}, {"minLength": 2}]}, {"type": "string", "minLength": 2}),
        ({"type": "object"}, {"type": "string", "description": "The text of a JSON object."}),
    ],
)
def test_what_gemini_has_no_field_for(one: Any, told: Any) -> None:
    """Each construct becomes what Gemini has, or words."""
    assert _gemini(one) == told


def test_what_contains_itself_is_text_for_gemini() -> None:
    """A recursive schema is unfolded once; below that it is JSON text, which is read."""
    node = _root({"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}})
    schema = _root({"x": {"$ref": "#/$defs/node"}}, **{"$defs": {"node": node}})
    shown_x = _gemini({"$ref": "#/$defs/node"}, **{"$defs": {"node": node}})
    assert shown_x["properties"]["next"]["type"] == "string"
    reading = rewritten(schema, "gemini").reading
    deep = {"x": {"value": 1, "next": {"value": 2, "next": {"value": 3}}}}
    given = written(reading, deep)
    assert given == {"x": {"value": 1, "next": '{"value": 2, "next": {"value": 3}}'}}
    assert read(reading, given) == read(reading, deep) == deep


def test_a_tool_of_any_arguments_is_wrapped_for_gemini() -> None:
    """An object that names no property and takes any is one property with the JSON of all."""
    made = rewritten({"type": "object", "additionalProperties": {"type": "string"}}, "gemini")
    assert made.schema is not None
    assert list(made.schema["properties"]) == ["arguments"]
    assert read(made.reading, {"arguments": '{"a": "b"}'}) == read(made.reading, {"a": "b"}) == {"a": "b"}


def test_names_that_are_refused_get_others() -> None:
    """A shown name is allowed, at most 64 characters long, and not one that another property has."""
    own = ["a b", "a_b", "a.b", "9", "x" * 70, "é"]
    names = shown_names(own, PROPERTY_NAMES["gemini"][1])
    assert names == {"a b": "a_b_2", "a.b": "a_b_3", "9": "_9", "x" * 70: "x" * 64, "é": "_"}


def test_a_long_description_is_cut_for_openai_alone() -> None:
    """OpenAI gets 1,024 characters, with what the schema no longer says at their end."""
    schema = _root({"a": {}, "b": {}}, anyOf=[{"required": ["a"]}, {"required": ["b"]}])
    wire = {"description": "d" * 3000, "inputSchema": schema}
    for form in ("openai", "openai-responses"):
        tool = shown("t", wire, form).tool
        text = (tool if form == "openai-responses" else tool["function"])["description"]
        assert len(text) == 1024
        assert text.endswith("d… Needs one of: `a`; `b`.")
    assert len(shown("t", wire, "anthropic").tool["description"]) > 3000


def test_arguments_of_any_shape_are_read() -> None:
    """Reading what does not fit raises nothing and changes nothing that it does not know."""
    reading = rewritten(_root({"x": {"type": "object"}, "a b": {"type": "array"}}), "gemini").reading
    for given in (
        {"x": 5},
        {"x": "not json"},
        {"x": '{"cut'},
        {"a b": None},
        {"x": "NaN"},
        {"x": "[1e999]"},
        {"other": "[1]"},
    ):
        assert read(reading, given) == given


@pytest.mark.parametrize(
    "model, form",
    [
        ("claude-sonnet-5", "anthropic"),
        ("openai:gpt-5", "openai"),
        ("openrouter/anthropic/claude-opus-5", "anthropic"),
        ("vertex/gemini-3-pro", "gemini"),
        ("o3", "openai"),
        ("", "anthropic"),
        ("high", "anthropic"),
    ],
)
def test_a_models_name_tells_its_form(model: str, form: str) -> None:
    """Names of models, with or without the provider before them, have the form of their API."""
    assert format_of(model) == form


def test_each_form_has_its_providers_rules() -> None:
    """Both forms of OpenAI have the same rules, and MCP none."""
    assert [provider_of(form) for form in FORMATS] == ["anthropic", "openai", "openai", "gemini", ""]
