"""Messages for the model about arguments that do not fit: the place, the expectation, the near name."""

from __future__ import annotations

from typing import Any

import pytest

from octoc.runtime.arguments.messages import problems_of
from octoc.runtime.arguments.validator import DEFAULT_DIALECT, REST_DIALECT, Validator

UNQUOTED = "write it as JSON, without quotes around it"
ISSUE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "repo": {"type": "string"},
        "title": {"type": "string", "minLength": 3},
        "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": True},
        "state": {"enum": ["open", "closed"]},
        "count": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10},
        "due": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "place": {
            "oneOf": [
                {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]},
                {"type": "string"},
            ]
        },
        "path": {"type": "string", "pattern": "^/"},
        "ratio": {"type": "number"},
    },
    "required": ["repo"],
    "additionalProperties": False,
}


def _told(schema: dict[str, Any], value: Any, dialect: str = DEFAULT_DIALECT) -> list[str]:
    judge = Validator()
    return [str(problem) for problem in problems_of(judge.errors(judge.compile(schema, dialect), value))]


@pytest.mark.parametrize(
    "arguments, told",
    [
        ({}, ["missing required property `repo` (string)"]),
        (
            {"rpo": "x"},
            [
                "missing required property `repo` (string); `rpo` is not its name",
                "unknown property `rpo`; did you mean `repo`?",
            ],
        ),
        (
            {"zzz": 1, "repo": "x"},
            [
                "unknown property `zzz`: expected "
                + "".join(f"`{name}`, " for name in list(ISSUE["properties"])[:8])
                + "1 more"
            ],
        ),
        ({"repo": 3}, ["/repo: expected string, got integer"]),
        ({"repo": None}, ["/repo: expected string, got null"]),
        ({"repo": "x", "title": "ab"}, ["/title: expected at least 3 characters, got 2"]),
        ({"repo": "x", "labels": "a"}, ["/labels: expected array, got string"]),
        (
            {"repo": "x", "labels": '["a"]'},
            [f"/labels: expected array, got string: {UNQUOTED}"],
        ),
        ({"repo": "x", "count": "3"}, [f"/count: expected integer, got string: {UNQUOTED}"]),
        ({"repo": "x", "ratio": "3"}, [f"/ratio: expected number, got string: {UNQUOTED}"]),
        ({"repo": "x", "count": True}, ["/count: expected integer, got boolean"]),
        ({"repo": "x", "labels": ["a", 1]}, ["/labels/1: expected string, got integer"]),
        ({"repo": "x", "labels": ["a", "a"]}, ["/labels: expected no element twice"]),
        ({"repo": "x", "labels": ["a", "b", "c"]}, ["/labels: expected at most 2 elements, got 3"]),
        ({"repo": "x", "state": "opne"}, ['/state: expected one of "open", "closed"; did you mean `open`?']),
        ({"repo": "x", "count": 0}, ["/count: expected at least 1"]),
        ({"repo": "x", "count": 10}, ["/count: expected less than 10"]),
        ({"repo": "x", "due": "soon"}, ["/due: expected integer or null, got string"]),
        ({"repo": "x", "place": {"line": "a"}}, ["/place/line: expected integer, got string"]),
        ({"repo": "x", "place": {}}, ["/place: missing required property `line` (integer)"]),
        ({"repo": "x", "place": 1}, ["/place: expected object or string, got integer"]),
        ({"repo": "x", "path": "a"}, ["/path: expected text that matches `^/`"]),
    ],
)
def test_what_is_told(arguments: dict[str, Any], told: list[str]) -> None:
    """Each problem is one line: its place, what was expected, and what may have been meant."""
    assert _told(ISSUE, arguments) == told


@pytest.mark.parametrize(
    "schema, value, told",
    [
        ({"const": "a"}, "b", ['expected "a"']),
        ({"multipleOf": 5}, 3, ["expected a multiple of 5"]),
        ({"not": {"type": "string"}}, "b", ["is what its schema excludes"]),
        ({"properties": {"a": False}}, {"a": 1}, ["has a part that its schema does not allow"]),
        ({"contains": {"type": "string"}}, [1], ["expected another element: none is what `contains` asks for"]),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, ["missing `b`, needed with what is given"]),
        (
            {"propertyNames": {"maxLength": 1}},
            {"a2": 1},
            ["a property's name here: expected at most 1 characters, got 2"],
        ),
        ({"required": ["a", "b"]}, {}, ["missing required properties `a`, `b`"]),
        ({"additionalProperties": False}, {"a": 1}, ["unknown property `a`: none is expected"]),
        ({"unevaluatedProperties": False}, {"a": 1}, ["unknown property among `a`"]),
        (
            {"minContains": 2, "contains": {"const": 1}},
            [1],
            ["expected more elements that are what `contains` asks for"],
        ),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 1}]},
            3,
            ["fits more than one of the forms that exclude each other"],
        ),
        ({"properties": {"a/b": {"type": "string"}}}, {"a/b": 1}, ["/a~1b: expected string, got integer"]),
        ({"enum": [1]}, 2, ["expected 1"]),
        ({"enum": list(range(11))}, 20, ["expected one of 0, 1, 2, 3, 4, 5, 6, 7, or 3 more"]),
    ],
)
def test_the_rarer_keywords_have_words(schema: dict[str, Any], value: Any, told: list[str]) -> None:
    """Errors of rarely used keywords have a message of their own."""
    assert _told(schema, value) == told


def test_a_draft_4_bound_excludes_by_its_own_word() -> None:
    """Draft 4's `exclusiveMinimum: true` makes `minimum` mean more than."""
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}
    assert _told(schema, 1, REST_DIALECT) == ["expected more than 1"]


def test_no_value_is_echoed() -> None:
    """A value of the caller's stands in no problem, however it fails."""
    secret = "hunter2-" * 50
    values: list[Any] = [secret, {secret[:9]: secret}, [secret], [[secret]]]
    told = [
        line for name in ISSUE["properties"] for value in values for line in _told(ISSUE, {"repo": secret, name: value})
    ]
    assert len(told) > len(ISSUE["properties"])
    assert [line for line in told if "hunter2-hunter2" in line] == []


def test_long_and_strange_names_stay_on_one_short_line() -> None:
    """A property's name is cut, and its line breaks and other control characters are escaped."""
    (line,) = _told({"additionalProperties": False}, {"a\nb\x1b" + "x" * 1000: 1})
    assert line.startswith("unknown property `a\\nb\\u001b")
    assert len(line) < 120
