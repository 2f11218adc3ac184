"""Input schemas: an object's, sound by their dialect, whole in themselves."""

import copy
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.lint.tools.dialects import DIALECTS, dialect_of, looks_sound, mistakes
from octoc.compiler.lint.tools.references import broken_references
from octoc.diagnostics.model import Diagnostic
from octoc.formats.walk import pointer, subschemas
from octoc.testing import WorkspaceBuilder

Findings = Callable[[Any], list[tuple[str, str]]]
LATEST = "https://json-schema.org/draft/2020-12/schema"


def test_a_schema_of_an_object_is_nothing_to_report(schema_findings: Findings) -> None:
    """A sound schema has no finding."""
    zone = {"type": "string", "pattern": "^[A-Z]", "enum": ["UTC"]}
    assert schema_findings({"type": "object", "properties": {"zone": zone}, "required": ["zone"]}) == []


ROOTS = [
    ({}, 'the `inputSchema` of tool `time/now` has no `type`, expected `"type": "object"`'),
    ({"type": "string"}, 'the `inputSchema` of tool `time/now` is of type `string`, expected `"type": "object"`'),
]


@pytest.mark.parametrize("schema,message", ROOTS, ids=["no-type", "text"])
def test_a_schema_of_something_else_is_an_error(schema_findings: Findings, schema: Any, message: str) -> None:
    """Arguments are an object, which the schema has to say."""
    assert ("OCT470", message) in schema_findings(schema)


def test_a_tool_without_a_schema_is_an_error(linted: Callable[..., list[Diagnostic]]) -> None:
    """A tool has to have an input schema."""
    (found,) = linted({"name": "now", "description": "The time"})
    assert (found.rule.code, found.message) == ("OCT470", "tool `time/now` has no `inputSchema`")


TYPES = "array, boolean, integer, null, number, object, string"
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"minimum": "1"}, '`#/properties/a/minimum` is `"1"`, expected a number'),
    ({"type": "text"}, f'`#/properties/a/type` is `"text"`, expected one of {TYPES}, or a list of them'),
    ({"anyOf": []}, "`#/properties/a/anyOf` is `[]`, expected at least one element"),
    ({"items": [{}]}, "`#/properties/a/items` is `[{}]`, expected a schema"),
    ({"minLength": -1}, "`#/properties/a/minLength` is `-1`, expected at least 0"),
    ({"required": True}, "`#/properties/a/required` is `true`, expected an array"),
    ({"required": ["x", "x"]}, '`#/properties/a/required` is `["x", "x"]`, expected each element once'),
    ({"properties": {"b": 1}}, "`#/properties/a/properties/b` is `1`, expected a schema"),
    ({"multipleOf": 0}, "`#/properties/a/multipleOf` is `0`, expected more than 0"),
]  # fmt: skip


@pytest.mark.parametrize("inner,message", MISTAKES, ids=[next(iter(inner)) for inner, _ in MISTAKES])
def test_what_the_dialect_refuses_is_told_in_our_words(schema_findings: Findings, inner: Any, message: str) -> None:
    """Each mistake against the metaschema says where it is, what stands there and what was expected."""
    found = schema_findings({"type": "object", "properties": {"a": inner}})
    assert ("OCT471", f"in the `inputSchema` of tool `time/now`, {message}") in found


def test_each_dialect_has_its_own_rules() -> None:
    """`items` may be a list up to draft 2019-09, an exclusive bound may be true only in draft 4."""
    tuples = {"type": "array", "items": [{"type": "string"}]}
    assert list(mistakes(tuples, "http://json-schema.org/draft-07/schema")) == []
    assert list(mistakes(tuples, LATEST)) != []
    bound = {"type": "integer", "minimum": 0, "exclusiveMinimum": True}
    assert list(mistakes(bound, "http://json-schema.org/draft-04/schema")) == []
    assert list(mistakes(bound, "http://json-schema.org/draft-07/schema")) != []


def test_a_dialect_is_known_by_any_of_its_spellings(schema_findings: Findings) -> None:
    """`https`, `http` and the empty fragment name the same draft; another dialect is an info."""
    for spelling in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema"):
        assert dialect_of({"$schema": spelling}) == "http://json-schema.org/draft-07/schema"
    assert dialect_of({}) == LATEST
    codes = [code for code, _ in schema_findings({"$schema": "https://example.org/mine", "type": "object"})]
    assert "OCT473" in codes


REFERENCES = [
    ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, []),
    ({"$ref": "#/$defs/b", "$defs": {"a": {}}}, ["is not in the schema"]),
    ({"properties": {"a": {"$ref": "#"}}}, []),
    ({"properties": {"a": {"$ref": "#/properties/b~1c"}, "b/c": {}}}, []),
    ({"properties": {"a": {"$ref": "#/properties/a%20b"}, "a b": {}}}, []),
    ({"properties": {"a": {"$ref": "#here"}, "b": {"$anchor": "here"}}}, []),
    ({"properties": {"a": {"$ref": "#there"}, "b": {"$anchor": "here"}}}, ["is not in the schema"]),
    ({"$ref": "https://example.org/a.json"}, ["is not in the schema, and octoc does not fetch schemas"]),
    ({"$ref": "other.json#/a"}, ["is not in the schema, and octoc does not fetch schemas"]),
    ({"$ref": "file:///etc/passwd"}, ["is not in the schema, and octoc does not fetch schemas"]),
    ({"$id": "https://example.org/a", "$ref": "https://example.org/a#/$defs/x", "$defs": {"x": {}}}, []),
    ({"$id": "urn:acme:a", "$ref": "#/$defs/x", "$defs": {"x": {}}}, []),
    ({"$defs": {"x": {"$id": "https://example.org/x"}}, "$ref": "https://example.org/x"}, []),
    ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, []),
    ({"$ref": "#/type", "type": "object"}, ["is not a schema"]),
    ({"$ref": "#"}, ["leads back to itself"]),
    ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, ["leads back to itself"] * 2),
    ({"$ref": "http://[", "properties": {}}, ["is not in the schema, and octoc does not fetch schemas"]),
]  # fmt: skip


@pytest.mark.parametrize("schema,expected", REFERENCES, ids=[str(schema)[:50] for schema, _ in REFERENCES])
def test_a_reference_leads_somewhere_in_the_schema(schema: Any, expected: list[str]) -> None:
    """Pointers, anchors and identifiers inside the schema resolve; circles, files and addresses are reported."""
    assert [why for _, _, why in broken_references(schema)] == expected


def test_a_pattern_that_re2_does_not_read_is_a_warning(schema_findings: Findings) -> None:
    """Look-ahead is named; what is linear is fine."""
    found = schema_findings({"type": "object", "properties": {"a": {"pattern": "^(?!x)"}, "b": {"pattern": "(a+)+$"}}})
    assert found == [
        ("OCT474", "in the `inputSchema` of tool `time/now`, `(?!` at `#/properties/a/pattern` cannot be read")
    ]


def test_places_follow_the_file_when_a_tool_before_was_cut(builder: WorkspaceBuilder) -> None:
    """A tool that check leaves out does not move the places of the tools after it."""
    from octoc.compiler.checkup.check import check_workspace

    root = builder.snapshot("time", ["a", "b"]).write()
    file = root / "snapshots" / "time.json"
    text = (
        file.read_text(encoding="utf-8")
        .replace('"name": "a"', '"name": 1')
        .replace('"type": "object"', '"type": "text"')
    )
    file.write_text(text, encoding="utf-8")
    found = [one for one in check_workspace(root, use_cache=False).diagnostics if one.rule.code == "OCT470"]
    assert [one.message for one in found] == [
        'the `inputSchema` of tool `time/b` is of type `text`, expected `"type": "object"`'
    ]
    lines = text.splitlines()
    assert found[0].span is not None
    assert found[0].span.line == max(number for number, line in enumerate(lines, 1) if '"text"' in line)


def test_a_tool_that_is_filtered_out_is_not_looked_at(builder: WorkspaceBuilder) -> None:
    """What a server's own filter keeps from models is not linted."""
    from octoc.compiler.checkup.check import check_workspace

    builder.server("time", "time-server", include_tools=["good"])
    root = builder.snapshot("time", ["good", {"name": "bad", "inputSchema": {}}]).write()
    codes = {one.rule.code for one in check_workspace(root, use_cache=False).diagnostics}
    assert not {code for code in codes if "OCT470" <= code <= "OCT489"}


KEYWORDS = sorted({
    "$id", "$schema", "additionalProperties", "allOf", "anyOf", "const", "contains", "default", "deprecated",
    "dependentRequired",
    "description", "enum", "examples", "exclusiveMinimum", "format", "if", "items", "maxItems", "maximum",
    "minLength", "multipleOf", "not", "oneOf", "pattern", "patternProperties", "prefixItems", "properties",
    "propertyNames", "required", "title", "type", "uniqueItems", "$defs", "$ref", "dependencies", "definitions", "id",
    "$anchor", "$comment", "readOnly", "minContains", "unevaluatedItems", "additionalItems", "exclusiveMaximum",
})  # fmt: skip
ANYTHING = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-1, 2), st.floats(-1, 2), st.sampled_from(["string", "x", "", "#a", "^a"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=3)),
    max_leaves=8,
)


@given(
    schema=st.dictionaries(st.sampled_from(KEYWORDS), ANYTHING, max_size=3), dialect=st.sampled_from(sorted(DIALECTS))
)
def test_the_cheap_look_is_never_too_lenient(schema: dict[str, Any], dialect: str) -> None:
    """A schema that looks sound meets its dialect's metaschema, whatever stands in it."""
    if looks_sound(schema, dialect):
        validator = getattr(jsonschema, DIALECTS[dialect])
        assert list(validator(validator.META_SCHEMA).iter_errors(schema)) == []


@given(schema=st.dictionaries(st.sampled_from(KEYWORDS), ANYTHING, max_size=3))
def test_any_schema_is_linted_without_failing(schema: dict[str, Any]) -> None:
    """Mistakes and references of any JSON are lines, never exceptions, and the schema stays as it was."""
    before = copy.deepcopy(schema)
    for dialect in DIALECTS:
        assert all(isinstance(message, str) for _, message in mistakes(schema, dialect))
    assert all(why for _, _, why in broken_references(schema))
    assert all(pointer(path).startswith("#") for path, _ in subschemas(schema))
    assert schema == before
