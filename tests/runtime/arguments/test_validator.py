"""JSON Schema with untrusted schemas: errors are right, and hostile schemas end in bounded time."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from octoc.runtime.arguments.validator import DEFAULT_DIALECT, MAX_NODES, REST_DIALECT, SchemaUnusableError, Validator

DRAFT_7 = "https://json-schema.org/draft-07/schema"
DRAFT_4 = "http://json-schema.org/draft-04/schema#"

_names = st.sampled_from(["a", "b", "ab"])
_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.5, 1.0]) | _names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=8,
)
_types = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def _schemas() -> st.SearchStrategy[Any]:
    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        several = st.lists(inner, min_size=1, max_size=2)
        keywords: dict[str, st.SearchStrategy[Any]] = {
            "type": _types | st.lists(_types, min_size=1, max_size=2, unique=True),
            "properties": st.dictionaries(_names, inner, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "[ab]"]), inner, max_size=1),
            "additionalProperties": inner | st.booleans(),
            "required": st.lists(_names, max_size=2, unique=True),
            "propertyNames": inner,
            "minProperties": st.integers(0, 2),
            "items": inner,
            "prefixItems": several,
            "uniqueItems": st.booleans(),
            "maxItems": st.integers(0, 2),
            "contains": inner,
            "enum": st.lists(_values, min_size=1, max_size=3),
            "const": _values,
            "minimum": st.integers(-2, 2),
            "exclusiveMaximum": st.integers(-2, 2),
            "pattern": st.sampled_from(["^a", "b$", "a+b"]),
            "minLength": st.integers(0, 2),
            "anyOf": several,
            "oneOf": several,
            "allOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "unevaluatedProperties": st.booleans(),
            "$ref": st.just("#"),
        }
        return st.fixed_dictionaries({}, optional=keywords)

    return st.recursive(st.booleans(), extend, max_leaves=6)


@given(schema=_schemas(), value=_values)
def test_it_judges_as_jsonschema_does(schema: Any, value: Any) -> None:
    """A value fits exactly when jsonschema itself says so, wherever both come to an end."""
    judge = Validator()
    root = schema if isinstance(schema, dict) else {"allOf": [schema]}
    # Together they leave `unevaluatedProperties` without a say here, which no other judge does.
    assume("patternProperties" not in json.dumps(root) or "unevaluatedProperties" not in json.dumps(root))
    try:
        expected = jsonschema.Draft202012Validator(root).is_valid(value)
    except RecursionError:
        return
    try:
        compiled = judge.compile(root, DEFAULT_DIALECT)
        found = not judge.errors(compiled, value)
    except SchemaUnusableError:
        return
    assert found == expected


@given(left=_values, right=_values)
def test_equal_elements_are_found_as_jsonschema_finds_them(left: Any, right: Any) -> None:
    """Two elements count as equal exactly when jsonschema says so: `1` is `1.0`, and `true` is not `1`."""
    judge, schema = Validator(), {"uniqueItems": True}
    expected = jsonschema.Draft202012Validator(schema).is_valid([left, right])
    assert (not judge.errors(judge.compile(schema, DEFAULT_DIALECT), [left, right])) == expected


@pytest.mark.parametrize(
    "schema, default, value, fits",
    [
        ({"prefixItems": [{"type": "string"}]}, DEFAULT_DIALECT, [1], False),
        ({"prefixItems": [{"type": "string"}]}, REST_DIALECT, [1], True),
        ({"items": [{"type": "string"}]}, REST_DIALECT, [1], False),
        ({"$schema": DRAFT_4, "minimum": 1, "exclusiveMinimum": True}, DEFAULT_DIALECT, 1, False),
        ({"$schema": DRAFT_7, "items": [{"type": "string"}]}, DEFAULT_DIALECT, [1], False),
    ],
)  # fmt: skip
def test_a_schema_is_read_in_its_own_dialect(schema: dict[str, Any], default: str, value: Any, *, fits: bool) -> None:
    """`$schema` says the dialect, by `http` or `https`, with or without `#`; else it is the default."""
    judge = Validator()
    assert (judge.errors(judge.compile(schema, default), value) == []) == fits


def _chain(length: int) -> dict[str, Any]:
    """Return a schema that asks for each next definition twice: 2 ** length steps."""
    definitions: dict[str, Any] = {
        f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(length)
    }  # fmt: skip
    return {"$defs": {**definitions, f"d{length}": {}}, "allOf": [{"$ref": "#/$defs/d0"}]}


def _nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"not": schema}
    return schema


@pytest.mark.parametrize(
    "schema, value, why",
    [
        ({"$ref": "#"}, {}, "refers to itself"),
        (_nested(2_000), {}, "nested too deeply"),
        (_nested(50_000), {}, f"more than {MAX_NODES} parts"),
        ({"properties": {str(i): {} for i in range(30_000)}}, {}, f"more than {MAX_NODES} parts"),
        (_chain(40), {}, "takes too long"),
        ({**_chain(40), "unevaluatedProperties": False}, {"a": 1}, "takes too long"),
        ({"$ref": "http://127.0.0.1:9/schema"}, {}, "leads nowhere within it"),
        ({"$ref": "#/$defs/none"}, {}, "leads nowhere within it"),
        ({"$schema": "https://example.com/mine"}, {}, "which is not known"),
        ({"type": "strin"}, {}, "UnknownType"),
        ({"properties": {"a": "string"}}, {"a": 1}, "AttributeError"),
        ({"properties": {"a": {"multipleOf": 0}}}, {"a": 1}, "ZeroDivisionError"),
        ({"minimum": "1"}, 1, "TypeError"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_says_why(schema: dict[str, Any], value: Any, why: str) -> None:
    """A schema that is broken, endless or elsewhere raises SchemaUnusableError, which names the reason."""
    judge = Validator()
    with pytest.raises(SchemaUnusableError, match=re.escape(why)):
        judge.errors(judge.compile(schema, DEFAULT_DIALECT), value)


def test_no_reference_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A `$ref` to another host opens no connection."""
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: asked.append(args))
    monkeypatch.setattr(socket.socket, "connect", lambda *args: asked.append(args))
    judge = Validator()
    with pytest.raises(SchemaUnusableError):
        judge.errors(judge.compile({"$ref": "http://example.com/schema.json"}, DEFAULT_DIALECT), {})
    assert asked == []


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "(a+)+$"}}},
        {"properties": {"a": {"$schema": REST_DIALECT, "pattern": "(a+)+$"}}},
        {"properties": {"a": {"propertyNames": {"pattern": "(a+)+$"}}}},
    ],
)
def test_a_pattern_that_backtracks_for_ever_does_not(schema: dict[str, Any]) -> None:
    """A catastrophic expression is judged in linear time, also below a `$schema` of its own."""
    judge, text = Validator(), "a" * 5_000 + "!"
    instance: Mapping[str, Any] = {"a": {text: 1} if "propertyNames" in json.dumps(schema) else text}
    assert len(judge.errors(judge.compile(schema, DEFAULT_DIALECT), instance)) == 1


def test_a_pattern_of_properties_that_backtracks_for_ever_does_not() -> None:
    """`patternProperties`, and what else looks at it, is judged in linear time too."""
    judge, key = Validator(), "a" * 5_000 + "!"
    schema = {"patternProperties": {"(a+)+$": {}}, "additionalProperties": False, "unevaluatedProperties": False}
    errors = judge.errors(judge.compile(schema, DEFAULT_DIALECT), {key: 1})
    assert [error.validator for error in errors] == ["additionalProperties"]


@pytest.mark.parametrize("pattern", ["(?=a)b", r"(a)\1", "a{1000}{1000}", "("])
def test_a_pattern_that_cannot_be_read_refuses_nothing(pattern: str) -> None:
    """What google-re2 does not read is not checked, and nothing that it might have declared is refused."""
    judge = Validator()
    schema = {
        "properties": {"x": {"pattern": pattern}},
        "patternProperties": {pattern: {"type": "integer"}},
        "additionalProperties": False,
    }
    assert judge.errors(judge.compile(schema, DEFAULT_DIALECT), {"x": "z", "other": "z"}) == []


def test_a_lone_surrogate_is_no_fault() -> None:
    """A text with a lone surrogate passes every pattern, since the engine cannot read it."""
    judge = Validator()
    assert judge.errors(judge.compile({"pattern": "x"}, DEFAULT_DIALECT), "\ud800") == []


def test_many_equal_looking_elements_have_an_end() -> None:
    """`uniqueItems` over twenty thousand objects is one pass."""
    judge = Validator()
    compiled = judge.compile({"uniqueItems": True}, DEFAULT_DIALECT)
    elements = [{"x": [number]} for number in range(20_000)]
    assert judge.errors(compiled, elements) == []
    assert len(judge.errors(compiled, [*elements, {"x": [7.0]}])) == 1


def test_errors_are_not_without_number() -> None:
    """The validator stops after twenty of a thousand errors."""
    judge = Validator()
    compiled = judge.compile({"items": {"type": "string"}}, DEFAULT_DIALECT)
    assert len(judge.errors(compiled, list(range(1_000)))) == 20


@pytest.mark.parametrize(
    "schema, sound",
    [
        ({"type": "object", "required": ["a"]}, True),
        ({"required": "name"}, False),
        ({"properties": {"a": {"exclusiveMinimum": True}}}, False),
        ({"$schema": DRAFT_4, "properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}}, True),
        ({"items": [{}]}, False),
    ],
)
def test_a_schema_is_held_against_its_dialect(schema: dict[str, Any], *, sound: bool) -> None:
    """A schema that its dialect does not allow raises SchemaUnusableError, and says where."""
    judge = Validator()
    compiled = judge.compile(schema, DEFAULT_DIALECT)
    if sound:
        judge.check_schema(compiled)
    else:
        with pytest.raises(SchemaUnusableError, match="invalid at `"):
            judge.check_schema(compiled)
