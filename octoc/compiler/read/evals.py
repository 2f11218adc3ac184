"""Trigger evals of skills: queries with the expectation whether a skill is used, in the shapes that libraries have.

    [{"query": "...", "should_trigger": true}]
    {"skill_name": "pdf", "evals": [{"prompt": "...", "should_trigger": false}]}
    {"skill": "pdf", "should_trigger": ["..."], "should_not_trigger": ["..."]}

An expectation may also be a skill's name, or null for none of all skills.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.evals import EVAL_UNUSABLE

LISTS = ("evals", "queries", "cases", "tests", "examples", "prompts", "items")
_QUERIES = ("query", "prompt", "request", "user_request", "message", "text", "input")
_LABELS = ("should_trigger", "shouldTrigger", "expected_trigger", "expected_skill", "expectedSkill")
_BY_OUTCOME = {"should_trigger": True, "should_not_trigger": False, "positive": True, "negative": False}
_WORDS = {"true": True, "false": False, "none": None, "": None}
_SKILLS = ("skill_name", "skill", "skillName")


@attrs.frozen(kw_only=True)
class EvalRow:
    """One eval. `expect` is whether `skill` is used, the name of the expected skill, or None for no skill at all.

    `skill` is the skill that the file or the row names, "" without one.
    """

    query: str
    expect: bool | str | None
    skill: str
    place: Place


@attrs.frozen(kw_only=True)
class EvalRows:
    """The evals of one file, and how many entries have no expectation: tasks for a model."""

    rows: tuple[EvalRow, ...] = ()
    tasks: int = 0


def eval_rows(value: Any, place: Place, sink: DiagnosticSink) -> EvalRows:
    """Return the evals in the value of a JSON file; report entries that are unusable."""
    rows: list[EvalRow] = []
    tasks = 0
    for entry, label, skill, at in _entries(value, place):
        if label is _MISSING:
            tasks += isinstance(entry, Mapping) and _text(entry) is not None
            continue
        query = entry if isinstance(entry, str) else _text(entry) if isinstance(entry, Mapping) else None
        expect = _WORDS.get(label.strip().lower(), label.strip()) if isinstance(label, str) else label
        if not query or not query.strip():
            sink.report(EVAL_UNUSABLE, "this eval has no query", at=at, help='write `"query": "what a user says"`')
        elif not isinstance(expect, bool | str | None) or (isinstance(label, str) and label.lower() in ("yes", "no")):
            sink.report(
                EVAL_UNUSABLE,
                "this eval has no clear expectation",
                at=at,
                help="write `true`, `false`, a skill's name, or `null` for no skill",
            )
        else:
            rows.append(EvalRow(query=query.strip(), expect=expect, skill=skill, place=at))
    return EvalRows(rows=tuple(rows), tasks=tasks)


_MISSING: Any = object()


def _entries(value: Any, place: Place, skill: str = "") -> Iterator[tuple[Any, Any, str, Place]]:
    """Yield (entry, expectation, skill, place); an entry without an expectation has `_MISSING`."""
    if isinstance(value, list):
        for number, entry in enumerate(value):
            yield from _of_entry(entry, place.child(number), skill)
    elif isinstance(value, Mapping):
        named = _first(value, _SKILLS)
        skill = named if isinstance(named, str) else skill
        for key, outcome in _BY_OUTCOME.items():
            entries = value.get(key)
            for number, entry in enumerate(entries if isinstance(entries, list) else ()):
                yield entry, outcome, skill, place.child(key, number)
        for key in LISTS:
            if isinstance(value.get(key), list):
                yield from _entries(value[key], place.child(key), skill)


def _of_entry(entry: Any, place: Place, skill: str) -> Iterator[tuple[Any, Any, str, Place]]:
    if not isinstance(entry, Mapping):
        return
    if any(isinstance(entry.get(key), list) for key in _BY_OUTCOME):
        yield from _entries(entry, place, skill)
        return
    named = _first(entry, _SKILLS)
    yield entry, _first(entry, _LABELS, _MISSING), named if isinstance(named, str) else skill, place


def _text(entry: Mapping[str, Any]) -> str | None:
    value = _first(entry, _QUERIES)
    return value if isinstance(value, str) else None


def _first(entry: Mapping[str, Any], keys: tuple[str, ...], otherwise: Any = None) -> Any:
    return next((entry[key] for key in keys if key in entry), otherwise)
