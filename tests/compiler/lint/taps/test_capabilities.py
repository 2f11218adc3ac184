"""Rules on capabilities: shared tools, repeated definitions, triggers, trust."""

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from octoc.compiler.lint.taps.triggers import SIMILARITY, near_sets, words_of

Files = Callable[..., dict[str, str]]
BUILTIN = 'type = "builtin"\n'


def test_one_tool_of_two_capabilities(lint_tap: Callable[..., Any], capability: Files) -> None:
    """The second owner's pattern is marked, and the first one's beside it; a prefix covers a name."""
    linted = lint_tap(
        capability("read", ["notes:view", "notes:find*"], server="notes"),
        capability("write", ["notes:edit", "notes:find_all"], server="notes"),
    )
    (found,) = linted.of("OCT416")
    assert linted.text_at(found.span) == '"notes:find_all"'
    assert [linted.text_at(label.span) for label in found.related] == ['"notes:find*"']


def test_one_tool_of_many_capabilities(lint_tap: Callable[..., Any], capability: Files) -> None:
    """Each owner but the first is one finding, however many there are before it, and a few of those are shown."""
    linted = lint_tap(*(capability(f"c{number:02}", ["notes:*"], server="notes") for number in range(12)))
    found = linted.of("OCT416")
    assert len(found) == 11
    assert found[-1].message == "capability `c11` grants `*` of server `notes`, as 11 others do"
    assert len(found[-1].related) < 11


def test_a_capability_whose_patterns_are_wrong(lint_tap: Callable[..., Any], capability: Files) -> None:
    """When a mistake leaves a capability without tools, the help points to that mistake."""
    (found,) = lint_tap(capability("read", ["other:view"], server="notes")).of("OCT404")
    assert found.help == "correct its servers and `allowed_tools`"


def test_capabilities_that_share_a_server_and_no_tool(lint_tap: Callable[..., Any], capability: Files) -> None:
    """Different tools of one server in two capabilities are not a finding."""
    linted = lint_tap(
        capability("read", ["notes:view*"], server="notes"), capability("write", ["notes:vie"], server="notes")
    )
    assert linted.of("OCT416") == []


def test_one_definition_in_several_files(lint_tap: Callable[..., Any], capability: Files) -> None:
    """Equal definitions are one finding with every place, even with different time-outs; different ones are not."""
    names = ("a", "b", "c")
    files = [capability(name, ["notes:view"], server="notes") for name in names]
    files[1] = {path: text.replace("timeout_seconds = 30", "timeout_seconds = 60") for path, text in files[1].items()}
    other = capability("d", ["notes:view"], server="notes", fields='type = "stdio"\ncommand = "other"\nargs = []\n')
    linted = lint_tap(*files, other)
    (found,) = linted.of("OCT417")
    assert linted.text_at(found.span) == '"notes"'
    assert [label.span.file.split("/")[-2] for label in found.related] == ["b", "c"]


@pytest.mark.parametrize(
    "one,other,is_found",
    [
        (["list the open issues"], ["list my open issue"], True),
        (["look up US case law"], ["look up UK case law"], False),
        (["list the open issues"], ["close this issue"], False),
    ],
)
def test_triggers_in_nearly_the_same_words(
    lint_tap: Callable[..., Any], capability: Files, one: list[str], other: list[str], is_found: bool
) -> None:
    """Plurals and empty words do not tell triggers apart, a country does."""
    linted = lint_tap(
        capability("a", ["a:*"], triggers=one), capability("b", ["b:*"], triggers=other, domains=["office"])
    )
    assert [linted.text_at(found.span) for found in linted.of("OCT423")] == [f'"{other[0]}"'] * is_found


def test_triggers_of_domains_that_never_meet(lint_tap: Callable[..., Any], capability: Files) -> None:
    """Capabilities of different domains do not compete, and a capability does not compete with itself."""
    same = ["list the open issues", "list my open issue"]
    linted = lint_tap(
        capability("a", ["a:*"], triggers=same, domains=["x"]), capability("b", ["b:*"], triggers=same, domains=["y"])
    )
    assert linted.of("OCT423") == []


def test_the_words_of_a_trigger() -> None:
    """Case, plurals and empty words count for nothing; `US` and words in `ss` stay."""
    assert words_of("Show the US classes of my Access rights") == {"show", "us", "classe", "access", "right"}


def test_control_of_the_run_time_with_triggers(lint_tap: Callable[..., Any], capability: Files) -> None:
    """Triggers of a capability over agents or the run time are marked; `core` is not, nor one without triggers."""
    talk = ["hand this to another agent", "let a specialist do it", "split this among agents"]
    plan = ["plan the steps", "outline the approach", "map out a roadmap"]
    linted = lint_tap(
        capability("delegation", ["agent:*"], server="agent", fields=BUILTIN, triggers=talk, domains=["office"]),
        capability("control", ["runtime:*"], server="runtime", fields=BUILTIN),
        capability("plan", ["core:*"], server="core", fields=BUILTIN, triggers=plan),
    )
    (found,) = linted.of("OCT425")
    assert linted.text_at(found.span).startswith("[")
    assert "any agent of office" in found.message


def test_few_triggers(lint_tap: Callable[..., Any], capability: Files) -> None:
    """One or two triggers are information, and no trigger is a finding of another rule."""
    linted = lint_tap(
        capability("a", ["a:*"], triggers=["write this down", "find my note"]),
        capability("b", ["b:*"], triggers=["what time is it", "which day is it", "when is noon"]),
        capability("c", ["c:*"]),
    )
    assert [found.message for found in linted.of("OCT435")] == ["capability `a` has 2 triggers, expected 3 or more"]
    assert len(linted.of("OCT401")) == 1


def test_near_sets_are_all_that_comparing_each_pair_finds() -> None:
    """The index of rare words leaves out no pair, for sets of one to nine words of a small vocabulary."""
    draw = random.Random(11)
    sets = {frozenset(draw.choices("abcdefghijkl", k=draw.randint(1, 9))) for _ in range(400)}
    near = near_sets(sets)
    for one in sets:
        expected = {other for other in sets if Fraction(len(one & other), len(one | other)) >= SIMILARITY}
        assert {other for _, other in near[one]} == expected


def test_many_capabilities_with_one_trigger_are_reported_once_each(
    lint_tap: Callable[..., Any], capability: Files
) -> None:
    """Each capability with the trigger of an earlier one is one finding, and not one for each pair."""
    linted = lint_tap(*(capability(name, [f"{name}:*"], triggers=["show my notes"]) for name in "abcde"))
    assert len(linted.of("OCT423")) == 4
