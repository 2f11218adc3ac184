"""Changes of recorded tools: what each is called, and that what is not called breaking breaks no call."""

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.pin.drift import DriftKind, ToolDrift, drift
from octoc.results import ListedTool, ServerListing

TEXT = {"type": "string"}


def listing(**tools: dict[str, Any]) -> ServerListing:
    """A listing of tools by name; each is what its wire object has beside the name."""
    return ServerListing(
        server_info={},
        protocol_version="",
        instructions=None,
        tools=tuple(
            ListedTool(name=name, description=str(wire.get("description", "")), wire={"name": name, **wire})
            for name, wire in tools.items()
        ),
    )


def schema_changes(old: Any, new: Any) -> list[tuple[DriftKind, str]]:
    """What a new input schema changes for those who call by the old one, the worst first."""
    return [(one.kind, one.text) for one in drift(listing(t={"inputSchema": old}), listing(t={"inputSchema": new}))]


def objects(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    """The schema of an object."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema if required is None else {**schema, "required": required}


CASES = [
    (objects(a=TEXT), objects(a=TEXT, b=TEXT), "widening: `t` argument `b` added"),
    (objects(a=TEXT), objects(["a"], a=TEXT), "breaking: `t` argument `a` is required"),
    (objects(["a"], a=TEXT), objects(a=TEXT), "widening: `t` argument `a` is optional"),
    (objects(a=TEXT), objects(a={"type": "integer"}), "breaking: `t` argument `a`: type string became integer"),
    (
        objects(a={"type": "integer"}),
        objects(a={"type": "number"}),
        "widening: `t` argument `a`: type integer became number",
    ),
    (
        objects(a=TEXT),
        objects(a={"type": ["string", "null"]}),
        "widening: `t` argument `a`: type string became string/null",
    ),
    (
        objects(a={"enum": ["x", "y"]}),
        objects(a={"enum": ["x"]}),
        "breaking: `t` argument `a`: `'y'` not taken any more",
    ),
    (objects(a={"enum": ["x"]}), objects(a={"enum": ["x", "y"]}), "widening: `t` argument `a`: `'y'` taken too"),
    (objects(a={"enum": [1]}), objects(a={"enum": [True]}), "breaking: `t` argument `a`: `1` not taken any more"),
    (objects(a=TEXT), objects(a={"enum": ["x"], **TEXT}), "breaking: `t` argument `a`: only certain values are taken"),
    (objects(a={"minimum": 1}), objects(a={"minimum": 2}), "breaking: `t` argument `a`: `minimum` is 2, was 1"),
    (objects(a={"maximum": 1}), objects(a={"maximum": 2}), "widening: `t` argument `a`: `maximum` is 2, was 1"),
    (objects(a={"pattern": "x"}), objects(a={"pattern": "y"}), "breaking: `t` argument `a`: `pattern` changed"),
    (objects(a={"pattern": "x"}), objects(a={}), "widening: `t` argument `a`: `pattern` removed"),
    (
        {**objects(a=TEXT, b=TEXT), "additionalProperties": False},
        {**objects(a=TEXT), "additionalProperties": False},
        "breaking: `t` argument `b` removed",
    ),
    (objects(a=TEXT), {**objects(a=TEXT), "additionalProperties": False}, "breaking: `t` other arguments: refused"),
    (
        objects(a={"type": "array", "items": TEXT}),
        objects(a={"type": "array", "items": {"type": "null"}}),
        "breaking: `t` argument `a[]`: type string became null",
    ),
    (
        objects(a={**TEXT, "description": "one"}),
        objects(a={**TEXT, "description": "two"}),
        "wording: `t` arguments: description changed",
    ),
]


@pytest.mark.parametrize("old,new,line", CASES, ids=[line for _, _, line in CASES])
def test_a_change_of_arguments_is_called_what_it_is(old: Any, new: Any, line: str) -> None:
    """Each change of an input schema is one line that says which argument, what, and how bad."""
    found = drift(listing(t={"inputSchema": old}), listing(t={"inputSchema": new}))
    assert str(found[0]) == line


def test_an_argument_that_is_called_like_a_keyword_is_an_argument() -> None:
    """A property named `description` or `title` is an argument, so its change breaks."""
    found = schema_changes(objects(description=TEXT), objects(description={"type": "integer"}))
    assert [kind for kind, _ in found] == [DriftKind.BREAKING]


def test_what_is_beside_the_arguments_is_told_too() -> None:
    """A description is wording; hints on what a call does widen; a result that loses a promise breaks."""
    output = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
    old = listing(t={"description": "one", "annotations": {"readOnlyHint": True}, "outputSchema": output})
    new = listing(t={"description": "two", "annotations": {}, "outputSchema": {**output, "required": []}})
    assert [change.kind for change in drift(old, new)] == [DriftKind.BREAKING, DriftKind.WIDENING, DriftKind.WORDING]
    more = {**output, "required": ["a", "b"]}
    assert drift(listing(t={"outputSchema": output}), listing(t={"outputSchema": more})) == (
        ToolDrift(tool="t", kind=DriftKind.WIDENING, text="output schema changed"),
    )


LEAVES = st.one_of(
    st.sampled_from(["string", "integer", "number", "boolean", "null"]).map(lambda kind: {"type": kind}),
    st.lists(st.sampled_from(["string", "integer", "null"]), min_size=1, unique=True).map(
        lambda kinds: {"type": kinds}
    ),
    st.lists(st.sampled_from(["x", "y", 1, True, None]), min_size=1, max_size=3, unique_by=repr).map(
        lambda values: {"enum": values}
    ),
    st.fixed_dictionaries({}, optional={"minimum": st.integers(0, 3), "maximum": st.integers(0, 3)}),
    st.fixed_dictionaries(
        {"type": st.just("string")}, optional={"minLength": st.integers(0, 2), "pattern": st.sampled_from(["x", "y"])}
    ),
    st.fixed_dictionaries({"description": st.sampled_from(["one", "two"])}),
    st.just({"const": "x"}),
    st.just({"anyOf": [{"type": "string"}, {"type": "null"}]}),
    st.just({"not": {"type": "string"}}),
    st.booleans(),
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}, optional={"maxItems": st.integers(0, 2)}),
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(st.sampled_from(["a", "b"]), inner)},
            optional={
                "required": st.lists(st.sampled_from(["a", "b"]), unique=True),
                "additionalProperties": st.one_of(st.booleans(), inner),
            },
        ),
    )


SCHEMAS = st.recursive(LEAVES, _containers, max_leaves=6)
VALUES = st.recursive(
    st.sampled_from(["x", "y", "xy", "", 0, 1, 2, 1.5, True, None]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2)
    ),
    max_leaves=5,
)


def _names_only_what_is_there(schema: Any, value: Any) -> bool:
    """Whether a value has only arguments that the schema describes, by name or by one schema for all names."""
    if not isinstance(schema, dict):
        return True
    if isinstance(value, list):
        return all(_names_only_what_is_there(schema.get("items"), item) for item in value)
    if not isinstance(value, dict):
        return True
    known = schema.get("properties", {})
    rest = schema.get("additionalProperties")
    return all(
        _names_only_what_is_there(known.get(name, rest), item) and (name in known or isinstance(rest, dict))
        for name, item in value.items()
    )


@given(old=SCHEMAS, new=SCHEMAS, value=VALUES)
def test_what_is_not_breaking_breaks_no_call(old: Any, new: Any, value: Any) -> None:
    """A value that was right, and names only what the old schema describes, is right after a change not breaking."""
    if any(kind is DriftKind.BREAKING for kind, _ in schema_changes(old, new)):
        return
    validator = jsonschema.Draft202012Validator
    if _names_only_what_is_there(old, value) and validator(old).is_valid(value):
        assert validator(new).is_valid(value)


@given(old=SCHEMAS, new=SCHEMAS, value=VALUES)
def test_wording_changes_no_meaning(old: Any, new: Any, value: Any) -> None:
    """Where all changes are wording, both schemas take the same values."""
    if all(kind is DriftKind.WORDING for kind, _ in schema_changes(old, new)):
        validator = jsonschema.Draft202012Validator
        assert validator(old).is_valid(value) == validator(new).is_valid(value)


@given(schema=SCHEMAS)
def test_the_same_is_no_change(schema: Any) -> None:
    """A schema against itself has no change."""
    assert schema_changes(schema, schema) == []


@given(schema=_containers(LEAVES), name=st.sampled_from(["a", "b", "c"]))
def test_one_more_required_argument_is_breaking(schema: Any, name: str) -> None:
    """Requiring what was not required is breaking, whatever the schema."""
    if schema["type"] == "object" and name not in schema.get("required", []):
        narrower = {**schema, "required": [*schema.get("required", []), name]}
        assert schema_changes(schema, narrower)[0][0] is DriftKind.BREAKING


KEYWORDS = [
    "additionalProperties", "anyOf", "const", "description", "enum", "items", "maximum", "minLength", "not",
    "properties", "required", "type", "$ref", "$defs", "prefixItems", "unevaluatedProperties", "title",
]  # fmt: skip
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-1, 2), st.sampled_from(["string", "x", ""])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=3)),
    max_leaves=8,
)


@given(old=ANYTHING, new=ANYTHING)
def test_schemas_that_are_none_are_compared_too(old: Any, new: Any) -> None:
    """Any two values are compared as schemas without an error, and exactly a difference is reported."""
    found = schema_changes(old, new)
    old, new = ({} if schema is None else schema for schema in (old, new))  # a tool without a schema takes anything
    assert bool(found) == (json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True))
