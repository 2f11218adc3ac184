"""Edits on bytes, and which fixes go together."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.compiler.fixes.apply import MAX_ROUNDS, apply_edits, choose, plan_fixes
from octoc.diagnostics.model import Diagnostic, Edit, Fix, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import UNKNOWN_KEY
from octoc.diagnostics.rules.read import JSON_SYNTAX


def _edit(line: int, column: int, length: int, text: str, file: str = "a.json") -> Edit:
    return Edit(span=Span(file=file, line=line, column=column, end_line=line, end_column=column + length), text=text)


def _finding(*edits: Edit, message: str = "m") -> Diagnostic:
    fix = Fix(title="t", edits=edits)
    return Diagnostic(rule=UNKNOWN_KEY, message=message, severity=Severity.ERROR, span=edits[0].span, fix=fix)


@st.composite
def _texts_and_ranges(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]]]:
    """A text, and ranges of it that do not overlap, each with what replaces it."""
    text = draw(st.text(st.sampled_from("ab{é😀\n \t\u2028"), max_size=60))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8, unique=True)))
    ends = zip(cuts[::2], cuts[1::2], strict=False)
    return text, [(start, end, draw(st.text(st.sampled_from("xyß\n"), max_size=5))) for start, end in ends]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@given(case=_texts_and_ranges(), order=st.randoms())
def test_edits_do_what_slicing_does(
    line_end: str, mark: str, case: tuple[str, list[tuple[int, int, str]]], order: object
) -> None:
    """Edits in any order give what replacing from the back gives; line ends and byte-order mark stay."""
    text, ranges = case
    expected = text
    for start, end, new in sorted(ranges, reverse=True):
        expected = expected[:start] + new + expected[end:]
    edits = []
    for start, end, new in ranges:
        line, end_line = text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1
        column, end_column = start - text.rfind("\n", 0, start), end - text.rfind("\n", 0, end)
        span = Span(file="a", line=line, column=column, end_line=end_line, end_column=end_column)
        edits.append(Edit(span=span, text=new))
    order.shuffle(edits)  # type: ignore[attr-defined]  # hypothesis' own random
    used = line_end if "\n" in text else "\n"
    written = (mark + text.replace("\n", used)).encode()
    assert apply_edits(written, edits) == (mark + expected.replace("\n", used)).encode()


@pytest.mark.parametrize(
    "edit", [_edit(1, 9, 1, "x"), _edit(2, 1, 0, "x"), _edit(1, 0, 1, "x"), _edit(1, 3, 2, "x"), _edit(0, 0, 0, "x")]
)
def test_an_edit_outside_of_the_text_is_none(edit: Edit) -> None:
    """An edit whose place the text does not have changes nothing at all."""
    assert apply_edits(b"abc", [edit]) is None


def test_of_overlapping_fixes_the_first_wins() -> None:
    """Where two fixes touch the same characters, the first by position is taken, whole, and the other is left."""
    first = _finding(_edit(1, 1, 3, "x"), message="first")
    second = _finding(_edit(1, 3, 2, "y"), _edit(5, 1, 1, "z"), message="second")
    third = _finding(_edit(5, 1, 1, "w"), message="third")
    assert choose([third, second, first], Path) == [first, third]


def test_two_insertions_at_one_place_are_not_mixed() -> None:
    """Only one of two insertions at the same place is applied in a round."""
    one, other = _finding(_edit(1, 2, 0, "x"), message="a"), _finding(_edit(1, 2, 0, "y"), message="b")
    assert len(choose([one, other], Path)) == 1


def test_a_fix_that_leaves_its_finding_is_refused(tmp_path: Path) -> None:
    """A fix after which the finding is still there is not kept, and said; the other fixes of the file are."""
    path = tmp_path / "a.json"
    path.write_text("one two", encoding="utf-8")
    useless, useful = _finding(_edit(1, 1, 3, "uno"), message="one"), _finding(_edit(1, 5, 3, "due"), message="two")
    plan = plan_fixes(
        [useless, useful],
        lambda _: path,
        lambda overlay: (useless,) if b"due" in overlay["a.json"] else (useless, useful),
        ["a.json"],
    )
    assert plan.refused == (useless,)
    assert plan.applied == (useful,)
    assert [change.after for change in plan.changes] == [b"one due"]


def test_a_fix_that_breaks_its_file_is_refused(tmp_path: Path) -> None:
    """A fix after which the file cannot be read any more is not kept."""
    path = tmp_path / "a.json"
    path.write_text("{}", encoding="utf-8")
    finding = _finding(_edit(1, 1, 1, ""))
    broken = Diagnostic(
        rule=JSON_SYNTAX, message="x", severity=Severity.ERROR, span=Span(file="a.json", line=1, column=1)
    )
    plan = plan_fixes([finding], lambda _: path, lambda _: (broken,), ["a.json"])
    assert (plan.changes, plan.refused) == ((), (finding,))


def test_fixes_that_undo_each_other_end(tmp_path: Path) -> None:
    """Two fixes that bring each other back are not applied for ever: one is kept, the way back is refused."""
    path = tmp_path / "a.json"
    path.write_text("a", encoding="utf-8")
    to_b, to_a = _finding(_edit(1, 1, 1, "b"), message="a"), _finding(_edit(1, 1, 1, "a"), message="b")
    plan = plan_fixes(
        [to_b], lambda _: path, lambda overlay: (to_a,) if overlay["a.json"] == b"b" else (to_b,), ["a.json"]
    )
    assert [change.after for change in plan.changes] == [b"b"]
    assert plan.refused == (to_a,)


def test_fixes_that_never_end_are_stopped(tmp_path: Path) -> None:
    """A fix that always brings up another one is applied a bounded number of times."""
    path = tmp_path / "a.json"
    path.write_text("x", encoding="utf-8")

    rounds: list[object] = []

    def recheck(overlay: object) -> tuple[Diagnostic, ...]:
        rounds.append(overlay)
        return (_finding(_edit(1, 1, 0, "x"), message=str(len(rounds))),)

    plan = plan_fixes([_finding(_edit(1, 1, 0, "x"), message="first")], lambda _: path, recheck, ["a.json"])
    assert len(rounds) == len(plan.applied) == MAX_ROUNDS
