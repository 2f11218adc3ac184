"""A tool's parameters on one line."""

from __future__ import annotations

from typing import Any

import pytest

from octoc.formats.signature import signature


def _tool(properties: dict[str, Any], *required: str, **more: Any) -> str:
    return signature("f", {"type": "object", "properties": properties, "required": list(required), **more})


@pytest.mark.parametrize(
    "schema, text",
    [
        ({"type": "string"}, "a: string"),
        ({"type": "string", "format": "date-time"}, "a: string (date-time)"),
        ({"enum": ["x", 2, None]}, 'a: "x"|2|null'),
        ({"enum": list(range(20))}, "a: 0|1|2|3|4|5|6|7|…"),
        ({"const": "v1"}, 'a: "v1"'),
        ({"type": ["string", "integer"]}, "a: string|integer"),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "a: string|string[]"),
        ({"type": "array", "items": {"enum": ["x", "y"]}}, 'a: ("x"|"y")[]'),
        ({"type": "array"}, "a: any[]"),
        (
            {"type": "object", "properties": {"b": {"type": "number"}, "c": {}}, "required": ["b"]},
            "a: {b: number, c?: any}",
        ),
        ({"type": "object"}, "a: object"),
        ({"$ref": "#/$defs/Level"}, 'a: "low"|"high"'),
        (True, "a: any"),
        ("no schema", "a: any"),
    ],
)
def test_a_parameter_is_shown_by_its_type(schema: Any, text: str) -> None:
    """Each type is written in the fewest words that tell a model what to send."""
    assert _tool({"a": schema}, "a", **{"$defs": {"Level": {"enum": ["low", "high"]}}}) == f"f({text})"


def test_required_parameters_stand_first_and_defaults_are_shown() -> None:
    """A model sees what it must send before what it may, and what happens when it does not."""
    properties = {
        "state": {"anyOf": [{"enum": ["open", "closed"]}, {"type": "null"}], "default": "open"},
        "repo": {"type": "string"},
        "page": {"type": ["integer", "null"], "default": None},
    }
    assert _tool(properties, "repo") == 'f(repo: string, state?: "open"|"closed" = "open", page?: integer)'


def test_a_long_signature_is_cut_at_what_is_optional() -> None:
    """Every required parameter is there; of many optional ones the first are, and long optional types are short."""
    inside = {f"field{number}": {"type": "string"} for number in range(9)}
    properties = {f"p{number}": {"type": "string"} for number in range(30)}
    text = _tool({"deep": {"type": "object", "properties": inside}, **properties}, *list(properties)[:12])
    assert all(f"p{number}: string" in text for number in range(12))
    assert "deep?: {…}" in text
    assert text.endswith(", …)")
    assert "p29" not in text


def test_a_hostile_schema_takes_little_work() -> None:
    """Thousands of properties and options that refer to all of them again end in a short text."""
    ref = {"$ref": "#/$defs/all"}
    names = [f"p{number}" for number in range(2000)]
    everything = {"type": "object", "properties": dict.fromkeys(names, ref), "required": names}
    union = {"anyOf": [ref] * 2000}
    text = signature("f", {**everything, "$defs": {"all": {"oneOf": [everything, union, {"enum": names}]}}})
    assert len(text) < 200_000


def test_any_schema_has_a_signature() -> None:
    """A schema that refers to itself has a short signature, and what is not a schema has one without parameters."""
    loop = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    assert signature("f", loop).startswith("f(next?: {next?: ")
    odd: list[Any] = [None, [], {}, {"properties": 3}, {"required": "a"}]
    assert [signature("f", schema) for schema in odd] == ["f()"] * 5
