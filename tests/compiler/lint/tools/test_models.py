"""What model providers take: constructs, names and descriptions."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.lint.tools.constructs import constructs_of
from octoc.compiler.model.settings import LintSettings
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity
from octoc.formats.providers import DESCRIPTION_LIMITS, LABELS, PROVIDER_RULES
from octoc.testing import WorkspaceBuilder

Linted = Callable[..., list[Diagnostic]]
TEXT = {"type": "string"}


def now(**schema: Any) -> dict[str, Any]:
    """A tool whose input schema is an object's with what is given."""
    return {"name": "now", "description": "The time", "inputSchema": {"type": "object", **schema}}


def test_every_row_is_of_a_provider_and_has_its_source() -> None:
    """The data names providers that settings know, says something, and says where that is from."""
    assert set(LABELS) == set(LintSettings().providers)
    data = [(row.provider, row.says, row.source) for row in PROVIDER_RULES]
    data += [(row.provider, row.says, row.source) for row in DESCRIPTION_LIMITS]
    assert {provider for provider, _, _ in data} == set(LABELS)
    assert all(says and source for _, says, source in data)
    rows = [(row.provider, row.construct) for row in PROVIDER_RULES]
    assert len(set(rows)) == len(rows)


CONSTRUCTS = [
    ("root:anyOf", {"anyOf": [{}]}, ("anyOf",)),
    ("root:not", {"not": {}}, ("not",)),
    ("keyword:anyOf", {"properties": {"a": {"allOf": [{}]}}}, None),
    ("keyword:allOf", {"properties": {"a": {"allOf": [{}]}}}, ("properties", "a", "allOf")),
    ("property-name", {"properties": {"a[b]": {}}}, ("properties", "a[b]")),
    ("property-name", {"properties": {"a": {"properties": {"a[b]": {}}}}}, None),
    ("type-list", {"properties": {"a": {"type": ["string", "null"]}}}, ("properties", "a", "type")),
    ("list-items", {"properties": {"a": {"items": [TEXT]}}}, ("properties", "a", "items")),
    ("array-without-items", {"properties": {"a": {"type": "array"}}}, ("properties", "a")),
    ("array-without-items", {"properties": {"a": {"type": "array", "items": {}}}}, None),
    ("enum-not-text", {"properties": {"a": {"enum": ["x", 1]}}}, ("properties", "a", "enum")),
    ("enum-not-text", {"properties": {"a": {"enum": ["x"]}}}, None),
    ("boolean-bound", {"properties": {"a": {"exclusiveMinimum": True}}}, ("properties", "a", "exclusiveMinimum")),
    ("text-format", {"properties": {"a": {"type": "string", "format": "uri"}}}, ("properties", "a", "format")),
    ("text-format", {"properties": {"a": {"type": "string", "format": "date-time"}}}, None),
    ("type-list", {"properties": {"type": {"enum": ["a"]}}, "default": {"type": ["x"]}}, None),
]


@pytest.mark.parametrize("construct,schema,path", CONSTRUCTS)
def test_a_construct_is_found_where_it_stands(construct: str, schema: Any, path: Any) -> None:
    """Constructs are found in schemas, and not in what only looks like one: names of properties, defaults."""
    found = {name: paths for (name, _), paths in constructs_of(schema).items()}
    assert found.get(construct, [None])[0] == path


def test_every_construct_of_the_data_can_be_found() -> None:
    """No row waits for a construct that nothing finds."""
    everything = {
        "enum": [1], "const": 1, "not": {}, "if": {}, "oneOf": [{}], "anyOf": [{}], "allOf": [{}], "$ref": "#",
        "type": ["array"], "items": [{}], "prefixItems": [{}], "patternProperties": {}, "$schema": "",
        "additionalProperties": False, "contains": {}, "dependentRequired": {}, "exclusiveMaximum": True,
        "exclusiveMinimum": True, "multipleOf": 1, "propertyNames": {}, "unevaluatedProperties": False,
        "uniqueItems": True, "properties": {"a b": {"type": "array"}, "b": {"type": "string", "format": "uri"}},
    }  # fmt: skip
    assert {row.construct for row in PROVIDER_RULES} <= {name for name, _ in constructs_of(everything)}


def test_one_finding_names_all_providers_that_refuse(linted: Linted) -> None:
    """A top-level `anyOf` is one warning on Anthropic and OpenAI, with what each says and where it stands."""
    (found,) = linted(now(properties={"a": TEXT}, anyOf=[{"required": ["a"]}]))
    assert (found.rule.code, found.severity) == ("OCT475", Severity.WARNING)
    assert found.message == "Anthropic and OpenAI would refuse the `inputSchema` of tool `time/now`"
    assert [note.partition(" (")[0] for note in found.notes[:2]] == [
        "at `#/anyOf`: Anthropic takes no `anyOf` at the top level of a schema",
        "at `#/anyOf`: OpenAI takes no `anyOf` at the top level of a schema",
    ]


def test_tools_that_are_refused_alike_are_one_finding(linted: Linted) -> None:
    """One mistake in three tools of a server is one finding, and another mistake is its own finding."""
    same = [{**now(properties={"a": {"type": "array"}}), "name": name} for name in ("a", "b", "c")]
    other = {**now(properties={"a b": TEXT}), "name": "d"}
    first, second = linted(*same, other)
    assert first.message.endswith("of tool `time/a` and of 2 tools like it")
    assert "like it: `b`, `c`" in first.notes
    assert second.message == "Anthropic and Gemini would refuse the `inputSchema` of tool `time/d`"


def test_only_the_providers_of_the_workspace_count(builder: WorkspaceBuilder, linted: Linted) -> None:
    """`[lint] providers` leaves out what others refuse, drop and cut."""
    builder.settings("lint", providers=["gemini"])
    tool = now(properties={"a": TEXT}, anyOf=[{}], additionalProperties=False)
    (found,) = linted({**tool, "description": "x" * 3000})
    assert (found.rule.code, found.severity) == ("OCT476", Severity.INFO)
    assert found.message == (
        "Gemini has no field for `additionalProperties` in `parameters`: it has to be left out of 1 tool of"
        " server `time`"
    )


def test_agents_that_are_hit_are_counted_and_named(builder: WorkspaceBuilder, linted: Linted) -> None:
    """The note counts the agents whose prompts can hold the tool: by their `tools`, or by a capability."""
    for name in ("a", "b", "c", "d"):
        builder.agent(name, type="worker", tools=["time/now"])
    (found,) = linted(now(anyOf=[{}]))
    assert found.notes[-1] == "it can be in the prompt of `a`, `b`, `c` and 1 more"


def test_a_tool_that_only_the_proxy_reaches_says_so(linted: Linted) -> None:
    """Where no agent has the tool in its prompt, the note says how it is reached."""
    (found,) = linted(now(anyOf=[{}]))
    assert found.notes[-1].startswith("no agent has it in its prompt")


@pytest.mark.parametrize("description", [None, "", " \n"])
def test_a_tool_without_a_description_is_a_warning(linted: Linted, description: str | None) -> None:
    """An absent, empty or blank description is reported at the tool or at the description."""
    wire = {key: value for key, value in {**now(), "description": description}.items() if value is not None}
    (found,) = linted(wire)
    assert (found.rule.code, found.severity) == ("OCT478", Severity.WARNING)


def test_a_long_description_names_the_limits_that_it_passes(linted: Linted) -> None:
    """OpenAI's limit is 1,024 characters and Claude Code's 2,048 bytes; a description at a limit has no finding."""
    assert linted({**now(), "description": "x" * 1024}) == []
    (found,) = linted({**now(), "description": "ä" * 1024 + "x"})
    assert (found.rule.code, found.message) == (
        "OCT479",
        "the description of tool `time/now` has 1025 characters",
    )
    assert [note.partition(" (")[0] for note in found.notes] == [
        "above 1024 characters OpenAI refuses a request with a longer one",
        "above 2048 bytes Claude Code shows no more of it",
    ]


def test_a_name_that_is_cut_is_told_with_its_alias(linted: Linted) -> None:
    """A name of more than 64 characters with its server is an info that shows what models see."""
    (found,) = linted({**now(), "name": "n" * 60})
    assert (found.rule.code, found.severity) == ("OCT477", Severity.INFO)
    assert found.message.startswith(f"tool `time/{'n' * 60}` is called `time__{'n' * 49}_")


@given(
    schema=st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.one_of(
                    st.sampled_from(["properties", "items", "type", "enum", "format", "$ref"]), st.text(max_size=3)
                ),
                inner,
                max_size=3,
            ),
        ),
        max_leaves=8,
    ).filter(lambda value: isinstance(value, dict))
)
def test_constructs_of_anything_stand_where_they_are_said_to(schema: dict[str, Any]) -> None:
    """Whatever a server lists as a schema, each path leads to something in it."""
    for paths in constructs_of(schema).values():
        for path in paths:
            current: Any = schema
            for key in path:
                current = current[key]
