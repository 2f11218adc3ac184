"""Schemas inside schemas are looked through once, however deep they lie."""

from __future__ import annotations

import sys
from typing import Any

from octoc.formats.references import Resources


def _nested(depth: int, inmost: dict[str, Any]) -> dict[str, Any]:
    schema = inmost
    for _ in range(depth):
        schema = {"anyOf": [schema]}
    return {"$id": "http://tools.example/root", "properties": {"a": schema}}


def _calls(schema: dict[str, Any]) -> int:
    """Return how many functions are called to index a schema."""
    called = 0

    def note(_: Any, event: str, __: Any) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        Resources(schema)
    finally:
        sys.setprofile(None)
    return called


def test_a_schema_three_times_as_deep_takes_three_times_the_steps() -> None:
    """What it takes grows with the schemas, and not with their depth besides: a server may nest hundreds."""
    assert _calls(_nested(300, {"type": "string"})) < 4 * _calls(_nested(100, {"type": "string"}))


def test_an_identifier_far_above_is_the_base_of_a_reference() -> None:
    """A reference is joined to the nearest identifier around it."""
    inmost = {"$id": "inner", "properties": {"b": {"$anchor": "here", "type": "number"}}}
    resources = Resources(_nested(40, inmost))
    path = ("properties", "a", *(key for _ in range(40) for key in ("anyOf", 0)))
    assert resources.target((*path, "properties", "b"), "#here") == {"$anchor": "here", "type": "number"}
    assert resources.resource(path[:-2], "inner#here") == ("http://tools.example/inner", "here", True)
    assert resources.resource((*path, "properties"), "#x")[0] == "http://tools.example/inner"
