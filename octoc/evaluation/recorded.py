"""`routing.lock`: the results of the fixtures at the last review, and how they differ now.

It is text for review: one line per fixture, sorted by its text, without scores, which differ between CPUs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from octoc.evaluation.figures import names
from octoc.evaluation.outcomes import RECALL_AT, MessageOutcome, Outcome, QueryOutcome, Results, Verdict
from octoc.names import SUPERVISOR
from octoc.routing.fixtures import RoutingFixture, SearchFixture
from octoc.toml_limits import parse

LOCK_NAME = "routing.lock"
VERSION = 1
_HEAD = """# What `octoc test` found: one line a fixture. Review it like code; `octoc test --record` writes it.
"""


class RecordedError(ValueError):
    """The text is not a `routing.lock` that this version reads; the message has what was expected."""


@attrs.frozen(kw_only=True)
class OutcomeChange:
    """A fixture whose outcome differs from the recorded one. `before` and `now` are names as in fixtures."""

    fixture: RoutingFixture | SearchFixture
    before: str
    now: str
    loss: int
    """Above 0 means worse than before, below 0 better."""

    @property
    def text(self) -> str:
        """The text of the fixture."""
        return self.fixture.text if isinstance(self.fixture, RoutingFixture) else self.fixture.query


@attrs.frozen(kw_only=True)
class Comparison:
    """How results differ from recorded ones. `new` fixtures were not recorded, `gone` ones were only recorded.

    `gate` is how messages were decided when they were recorded.
    """

    gate: str
    changes: tuple[OutcomeChange, ...] = ()
    new: int = 0
    gone: int = 0

    @property
    def regressions(self) -> tuple[OutcomeChange, ...]:
        return tuple(change for change in self.changes if change.loss > 0)

    @property
    def improvements(self) -> tuple[OutcomeChange, ...]:
        return tuple(change for change in self.changes if change.loss < 0)


def recorded_text(results: Results) -> str:
    """Return the text of `routing.lock`, which does not depend on the order of fixtures."""
    lines = [f"{_HEAD}version = {VERSION}", f"gate = {_quoted(results.gate)}"]
    lines += _list("messages", sorted(_message_line(outcome) for outcome in results.messages))
    lines += _list("searches", sorted(_query_line(outcome) for outcome in results.queries))
    return "\n".join(lines) + "\n"


def compare(text: str, results: Results) -> Comparison:
    """Return how `results` differ from the recorded `text`. Raises: RecordedError.

    A fixture whose expectation changed since it was recorded counts as new.
    """
    gate, recorded = _parsed(text)
    changes = []
    new = 0
    for outcome in results.all:
        before = recorded.pop(_key_of(outcome), None)
        if before is None:
            new += 1
            continue
        was = _outcome(outcome, before)
        if _got(was) != _got(outcome):
            fixture = outcome.fixture
            loss = outcome.verdict.loss - was.verdict.loss or _lost(was, outcome)
            changes.append(OutcomeChange(fixture=fixture, before=names(_got(was)), now=names(_got(outcome)), loss=loss))
    return Comparison(gate=gate, changes=tuple(changes), new=new, gone=len(recorded))


def _got(outcome: Outcome) -> tuple[str, ...]:
    """Return the recorded part of an outcome: a message's activations, or the expected tools that a query found."""
    if isinstance(outcome, MessageOutcome):
        return tuple(sorted(outcome.got))
    first = outcome.found[:RECALL_AT]
    return tuple(sorted(set(first) & set(outcome.fixture.tools))) if outcome.fixture.tools else first[:1]


def _lost(was: Outcome, outcome: Outcome) -> int:
    """Return whether the later of two equally bad outcomes has fewer correct parts."""
    if outcome.verdict is Verdict.WRONG:
        return 0
    return len(_got(was)) - len(_got(outcome))


def _outcome(outcome: Outcome, before: tuple[str, ...]) -> Outcome:
    if isinstance(outcome, MessageOutcome):
        return attrs.evolve(outcome, got=before)
    return attrs.evolve(outcome, found=before)


def _key_of(outcome: Outcome) -> tuple[Any, ...]:
    fixture = outcome.fixture
    if isinstance(fixture, RoutingFixture):
        return fixture.text, fixture.before, fixture.agent, tuple(sorted(fixture.expect))
    return fixture.query, fixture.agent, tuple(sorted(fixture.tools))


def _message_line(outcome: MessageOutcome) -> str:
    fixture = outcome.fixture
    fields: dict[str, Any] = {"text": fixture.text}
    fields |= {"before": list(fixture.before)} if fixture.before else {}
    fields |= {"agent": fixture.agent} if fixture.agent != SUPERVISOR else {}
    return _line({**fields, "expect": sorted(fixture.expect), "got": list(_got(outcome))}, outcome.verdict)


def _query_line(outcome: QueryOutcome) -> str:
    fixture = outcome.fixture
    fields: dict[str, Any] = {"query": fixture.query}
    fields |= {"agent": fixture.agent} if fixture.agent != SUPERVISOR else {}
    return _line({**fields, "tools": sorted(fixture.tools), "found": list(_got(outcome))}, outcome.verdict)


def _line(fields: Mapping[str, Any], verdict: Verdict) -> str:
    inside = ", ".join(f"{key} = {_value(value)}" for key, value in fields.items())
    # The verdict is only for readers, as it follows from the expectation.
    return f"  {{ {inside} }}," + ("" if verdict is Verdict.RIGHT else f"  # {verdict}")


def _value(value: str | list[str]) -> str:
    return _quoted(value) if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's, which requires one more character to be escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _list(key: str, lines: Iterable[str]) -> list[str]:
    entries = list(lines)
    return [f"{key} = [", *entries, "]"] if entries else [f"{key} = []"]


def _parsed(text: str) -> tuple[str, dict[tuple[Any, ...], tuple[str, ...]]]:
    try:
        values = parse(text)
    except ValueError as error:
        raise RecordedError(f"it is not TOML: {error}") from None
    if values.get("version") != VERSION:
        raise RecordedError(f"its version is {values.get('version')!r}, expected {VERSION}")
    outcomes: dict[tuple[Any, ...], tuple[str, ...]] = {}
    try:
        for entry in values["messages"]:
            key = (entry["text"], tuple(entry.get("before", ())), entry.get("agent", SUPERVISOR))
            outcomes[*key, tuple(entry["expect"])] = tuple(entry["got"])
        for entry in values["searches"]:
            outcomes[entry["query"], entry.get("agent", SUPERVISOR), tuple(entry["tools"])] = tuple(entry["found"])
        return str(values["gate"]), outcomes
    except (KeyError, TypeError, AttributeError) as error:
        raise RecordedError(f"an entry is not as `octoc test --record` writes it: {error}") from None
