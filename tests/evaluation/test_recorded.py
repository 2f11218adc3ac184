"""routing.lock: its text, and what a comparison with it says."""

import random

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.evaluation import MessageOutcome, QueryOutcome, Results
from octoc.evaluation.floors import measured
from octoc.evaluation.junit import render_junit
from octoc.evaluation.recorded import RecordedError, compare, recorded_text
from octoc.routing.fixtures import RoutingFixture, SearchFixture

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
NAMES = st.lists(st.sampled_from(["a", "b", "c"]), unique=True, max_size=2).map(tuple)
MESSAGES = st.builds(
    MessageOutcome,
    fixture=st.builds(RoutingFixture, text=TEXT, expect=NAMES, before=st.lists(TEXT, max_size=2).map(tuple)),
    got=NAMES,
)
QUERIES = st.builds(QueryOutcome, fixture=st.builds(SearchFixture, query=TEXT, tools=NAMES), found=NAMES)
RESULTS = st.builds(
    Results,
    messages=st.lists(MESSAGES, max_size=4, unique_by=lambda one: one.fixture.text).map(tuple),
    queries=st.lists(QUERIES, max_size=4, unique_by=lambda one: one.fixture.query).map(tuple),
    gate=TEXT,
)


def message(text: str, expect: str, got: str) -> MessageOutcome:
    """Return an outcome; names are separated by spaces."""
    return MessageOutcome(fixture=RoutingFixture(text=text, expect=tuple(expect.split())), got=tuple(got.split()))


def query(text: str, tools: str, found: str) -> QueryOutcome:
    """Return an outcome; names are separated by spaces."""
    return QueryOutcome(fixture=SearchFixture(query=text, tools=tuple(tools.split())), found=tuple(found.split()))


def changes(before: Results, now: Results) -> list[tuple[str, str, str, str]]:
    """Return (worse, better or other, text, before, now) of each change."""
    compared = compare(recorded_text(before), now)
    words = {True: "worse", False: "better"}
    return [
        (words[change.loss > 0] if change.loss else "other", change.text, change.before, change.now)
        for change in compared.changes
    ]


@given(RESULTS)
def test_results_do_not_differ_from_what_was_recorded_of_them(results: Results) -> None:
    """Whatever texts hold, recorded results compare as unchanged, none new and none gone."""
    compared = compare(recorded_text(results), results)
    assert (compared.changes, compared.new, compared.gone, compared.gate) == ((), 0, 0, results.gate)


@given(RESULTS, st.randoms(use_true_random=False))
def test_the_text_does_not_depend_on_the_order(results: Results, dice: random.Random) -> None:
    """The same outcomes in another order give the same text."""
    shuffled = list(results.messages)
    dice.shuffle(shuffled)
    assert recorded_text(attrs.evolve(results, messages=tuple(shuffled))) == recorded_text(results)


def test_worse_and_better_are_told_apart() -> None:
    """Right to missed, missed to wrong and less of what is right are worse; the other way is better."""
    before = Results(messages=(message("1", "a", "a"), message("2", "a", ""), message("3", "a b", "a b"),
                               message("4", "a", "b"), message("5", "", "a"), message("6", "a", "b")))  # fmt: skip
    now = Results(messages=(message("1", "a", ""), message("2", "a", "b"), message("3", "a b", "a"),
                            message("4", "a", "a"), message("5", "", ""), message("6", "a", "c")))  # fmt: skip
    assert changes(before, now) == [
        ("worse", "1", "a", "none"),
        ("worse", "2", "none", "b"),
        ("worse", "3", "a, b", "a"),
        ("better", "4", "b", "a"),
        ("better", "5", "a", "none"),
        ("other", "6", "b", "c"),
    ]


def test_a_query_is_compared_by_what_it_should_find() -> None:
    """A lost tool and an answer where none fits are worse; what else is found changes nothing."""
    before = Results(queries=(query("1", "s/a", "s/a s/x"), query("2", "s/a s/b", "s/a s/b"), query("3", "", "")))
    now = Results(queries=(query("1", "s/a", "s/y s/a"), query("2", "s/a s/b", "s/b"), query("3", "", "s/a")))
    assert changes(before, now) == [("worse", "2", "s/a, s/b", "s/b"), ("worse", "3", "none", "s/a")]


def test_a_fixture_that_expects_something_else_is_new() -> None:
    """One whose expectation was edited is compared with nothing, and the old one is gone."""
    compared = compare(
        recorded_text(Results(messages=(message("1", "a", "a"),))), Results(messages=(message("1", "b", "a"),))
    )
    assert (compared.changes, compared.new, compared.gone) == ((), 1, 1)


@pytest.mark.parametrize(
    "text,reason",
    [
        ("version = 2", "its version is 2, expected 1"),
        ("= 1", "it is not TOML"),
        ('version = 1\ngate = ""\nmessages = [{}]\nsearches = []', "an entry is not as"),
        ('version = 1\ngate = ""\nmessages = 1\nsearches = []', "an entry is not as"),
        ("version = 1", "an entry is not as"),
    ],
)
def test_an_unreadable_record_is_refused(text: str, reason: str) -> None:
    """A newer version, broken text and entries of another form are refused with a reason."""
    with pytest.raises(RecordedError, match=reason):
        compare(text, Results())


def test_limits_are_held_or_not() -> None:
    """A share at its limit holds it, on either side; what nothing measures is not held."""
    results = Results(messages=(message("1", "a", "a"), message("2", "a", "b")))
    held = {
        floor.name: floor.held
        for floor in measured(
            results, {"min_right": 0.5, "max_wrong": 0.5, "min_precision": 0.6, "min_abstention": 0.0}
        )
    }
    assert held == {"min_right": True, "max_wrong": True, "min_precision": False, "min_abstention": False}
    with pytest.raises(KeyError):
        measured(results, {"min_luck": 1.0})


def test_junit_has_a_case_a_fixture_and_a_limit() -> None:
    """A regression and a limit that is not held fail; what was not right before is skipped. No text breaks the XML."""
    from xml.etree import ElementTree as ET

    before = Results(messages=(message("x\x00<", "a", "a"), message("2", "a", "")))
    now = Results(messages=(message("x\x00<", "a", ""), message("2", "a", "")), queries=(query("3", "", ""),))
    regressions = compare(recorded_text(before), now).regressions
    text = render_junit(now, regressions, measured(now, {"min_right": 1.0}))
    (suite,) = ET.fromstring(text.encode())  # noqa: S314  # our own output
    assert {key: suite.get(key) for key in ("tests", "failures", "skipped")} == {
        "tests": "4", "failures": "2", "skipped": "1"
    }  # fmt: skip
    assert [[child.tag for child in case] for case in suite] == [["failure"], ["skipped"], [], ["failure"]]
