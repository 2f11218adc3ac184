"""Trigger evals in the shapes of skill libraries: what is read, and what is reported."""

from __future__ import annotations

from typing import Any

import pytest

from octoc.compiler.read.evals import eval_rows
from octoc.diagnostics.model import DiagnosticSink, Place

YES, NO = ("open the gate", True), ("paint the gate", False)


@pytest.mark.parametrize(
    "value",
    [
        [{"query": YES[0], "should_trigger": True}, {"query": NO[0], "should_trigger": False}],
        {
            "skill_name": "gate",
            "evals": [{"prompt": YES[0], "should_trigger": True}, {"prompt": NO[0], "should_trigger": False}],
        },
        {"queries": [{"query": YES[0], "shouldTrigger": True}, {"query": NO[0], "shouldTrigger": False}]},
        {"skill": "gate", "should_trigger": [YES[0]], "should_not_trigger": [{"request": NO[0]}]},
        {"cases": [{"skill": "gate", "should_trigger": [YES[0]], "should_not_trigger": [NO[0]]}]},
        [{"query": YES[0], "should_trigger": "true"}, {"query": NO[0], "should_trigger": "False"}],
    ],
)  # fmt: skip
def test_the_usual_shapes_say_the_same(value: Any) -> None:
    """Lists, lists under a key, and lists by outcome are read alike."""
    sink = DiagnosticSink()
    rows = eval_rows(value, Place(file="evals.json"), sink).rows
    assert [(row.query, row.expect) for row in rows] == [YES, NO]
    assert {row.skill for row in rows} <= {"", "gate"}
    assert sink.diagnostics == ()


def test_an_expectation_may_name_a_skill_or_none() -> None:
    """A name is the expected skill, and null means no skill at all."""
    value = [{"query": "a", "should_trigger": "gate"}, {"query": "b", "expected_skill": None}]
    rows = eval_rows(value, Place(file="evals.json"), DiagnosticSink()).rows
    assert [row.expect for row in rows] == ["gate", None]


@pytest.mark.parametrize("value", [None, 3, "text", [1, "two", None], {"evals": {"query": "a"}}, {"version": 1}, [[]]])
def test_other_json_has_no_evals(value: Any) -> None:
    """A file of another kind has no row, and is not reported."""
    sink = DiagnosticSink()
    assert eval_rows(value, Place(file="evals.json"), sink).rows == ()
    assert sink.diagnostics == ()


def test_entries_without_an_expectation_are_tasks() -> None:
    """They are counted, as only a model can run them."""
    found = eval_rows({"evals": [{"prompt": "Do it", "expected_output": "Done"}]}, Place(file="e"), DiagnosticSink())
    assert (found.rows, found.tasks) == ((), 1)


@pytest.mark.parametrize("entry", [{"should_trigger": True}, {"query": " ", "should_trigger": True},
                                   {"query": "a", "should_trigger": "yes"}, {"query": "a", "should_trigger": 1},
                                   {"query": ["a"], "should_trigger": False}])  # fmt: skip
def test_an_unclear_entry_is_reported_at_its_place(entry: dict[str, Any]) -> None:
    """It is left out, and the others count."""
    sink = DiagnosticSink()
    rows = eval_rows([{"query": "a", "should_trigger": True}, entry], Place(file="e"), sink).rows
    assert len(rows) == 1
    (found,) = sink.diagnostics
    assert found.rule.code == "OCT784"
    assert found.help
