"""Changes of schemas: a change that is not breaking breaks no call, and wording changes no meaning."""

import json
from typing import Any

import jsonschema
from hypothesis import given
from hypothesis import strategies as st

from octoc.pins.rules import ChangeClass
from octoc.pins.schemas import schema_changes as changes


def schema_changes(old: Any, new: Any) -> list[ChangeClass]:
    """The class of each change of an input schema, the worst first."""
    return [one.rule.kind for one in changes({} if old is None else old, {} if new is None else new)]


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
    if ChangeClass.BREAKING in schema_changes(old, new):
        return
    validator = jsonschema.Draft202012Validator
    if _names_only_what_is_there(old, value) and validator(old).is_valid(value):
        assert validator(new).is_valid(value)


@given(old=SCHEMAS, new=SCHEMAS, value=VALUES)
def test_wording_changes_no_meaning(old: Any, new: Any, value: Any) -> None:
    """Where all changes are wording, both schemas take the same values."""
    if set(schema_changes(old, new)) <= {ChangeClass.WORDING}:
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
        assert schema_changes(schema, narrower)[0] is ChangeClass.BREAKING


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
