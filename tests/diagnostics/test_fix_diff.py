"""The lines that a fix removes and adds, as they stand under its finding."""

from collections.abc import Sequence

from octoc.diagnostics.model import Diagnostic, Edit, Fix, Span
from octoc.diagnostics.render import render_concise, render_full, summary
from octoc.diagnostics.rule import Rule, Scope, Severity

RULE = Rule("OCT208", "unknown-field", "A field is not known.", Severity.WARNING, scope=Scope.FILE)


def _finding(*edits: tuple[tuple[int, int, int, int], str], title: str = "write `b`") -> Diagnostic:
    fixes = tuple(
        Edit(span=Span(file="f", line=line, column=column, end_line=end, end_column=end_column), text=text)
        for (line, column, end, end_column), text in edits
    )
    return Diagnostic(rule=RULE, message="m", severity=Severity.WARNING, fix=Fix(title=title, edits=fixes))


def _diff(lines: Sequence[str], found: Diagnostic, columns: int | None = None) -> list[str]:
    """Return what follows the fix's title."""
    text = render_full([found], lambda _, line: lines[line - 1] if 0 < line <= len(lines) else None, columns=columns)
    rows = text.splitlines()
    return rows[next(index for index, row in enumerate(rows) if "= fix:" in row) + 1 :]


def test_a_changed_line_is_shown_before_and_after() -> None:
    """A replaced word is one line removed, with its number, and one added."""
    assert _diff(["[x]", "a = 1"], _finding(((2, 1, 2, 2), "b"))) == [" 2 - a = 1", "   + b = 1"]


def test_two_edits_of_one_line_are_one_change() -> None:
    """Edits of the same line are shown together."""
    found = _finding(((1, 1, 1, 2), "b"), ((1, 5, 1, 6), "2"))
    assert _diff(["a = 1"], found) == [" 1 - a = 1", "   + b = 2"]


def test_an_insertion_shows_only_what_is_new() -> None:
    """A line that the fix keeps is not shown, nor is one that it moves down."""
    assert _diff(["a = 1", "c = 3"], _finding(((2, 1, 2, 1), "b = 2\n"))) == ["   + b = 2"]


def test_a_deletion_shows_only_what_goes() -> None:
    """Lines that the fix deletes are shown with their numbers."""
    assert _diff(["a = 1", "b = 2", "c = 3"], _finding(((2, 1, 3, 1), ""))) == [" 2 - b = 2"]


def test_a_secret_in_a_diff_is_masked() -> None:
    """A secret of a changed line is masked on both sides."""
    rows = _diff(['x = {"password": "hunter2-is-not-good"}'], _finding(((1, 1, 1, 2), "y")))
    assert len(rows) == 2
    assert not any("hunter2" in row for row in rows)


def test_a_change_in_a_long_line_is_shown_where_it_is() -> None:
    """In a file of one long line the diff shows the part around the change, on both sides."""
    line = "x" * 50_000 + ' "typ": "http" ' + "y" * 50_000
    old, new = _diff([line], _finding(((1, 50_003, 1, 50_006), "type")))
    assert '"typ": "http"' in old
    assert '"type": "http"' in new
    assert max(len(old), len(new)) < 140


def test_a_long_diff_is_cut() -> None:
    """A fix of many lines shows the first, and names the command that shows all."""
    rows = _diff([f"a{n} = 1" for n in range(30)], _finding(((1, 1, 30, 7), "b = 1")))
    assert len(rows) == 13
    assert rows[-1].endswith("19 more lines: `octoc check --diff`")


def test_a_file_that_is_gone_has_no_diff() -> None:
    """A fix of a file that was deleted since has no diff."""
    assert _diff([], _finding(((2, 1, 2, 2), "b"))) == []


def test_a_finding_with_a_fix_is_marked_and_counted() -> None:
    """`[*]` marks it in both formats for people, and the summary counts such findings."""
    found = _finding(((1, 1, 1, 2), "b"))
    assert render_concise([found]) == "warning[OCT208] [*] m\n"
    assert render_full([found], lambda _, __: None).startswith("warning[OCT208] [*] unknown-field: m\n")
    assert summary([found, found], infos_shown=True) == "2 warnings\n[*] 2 can be fixed with `octoc check --fix`"


def test_a_narrow_terminal_shows_the_change() -> None:
    """In 40 columns a diff of a longer line shows the part that differs."""
    line = '{"web": {"url": "https://mcp.example.com/a/long/path/mcp ", "type": "http"}}'
    space = line.index(' ",') + 1
    old, new = _diff([line], _finding(((1, space, 1, space + 1), "")), columns=40)
    assert 'mcp "' in old
    assert 'mcp"' in new
    assert max(len(old), len(new)) <= 40
