"""A fix as the lines that it removes and adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from octoc.diagnostics.model import Edit, Fix
from octoc.diagnostics.render.style import Paint
from octoc.diagnostics.render.text import escape, show_line, wrapped
from octoc.masking import lines_above, mask_secrets, masked_lines

_AROUND = 1000
"""Code points on each side of a change in a long line that are searched for secrets."""
_MOST_LINES = 12
"""Lines of one fix that are shown; `octoc check --diff` shows all."""


def diff_lines(
    fix: Fix,
    read_line: Callable[[str, int], str | None],
    paint: Paint,
    *,
    width: int,
    wide: int,
    columns: int | None,
) -> Iterator[str]:
    """Yield the title of a fix, then each line that it removes (`-`) or adds (`+`), with line numbers of the old text.

    Args:
        read_line: returns a line of a file by its number from 1, None where there is none.
        width: the digits of the gutter.
        wide: the code points of a line that are shown at most.
        columns: the width of the terminal in cells; None does not wrap the title.
    """
    first, *rest = wrapped(escape(fix.title), columns, indent=width + 4, taken=width + len("  = fix: "))
    yield f"{' ' * (width + 2)}{paint('gutter', '=')} {paint('bold', 'fix:')} {first}"
    yield from rest
    changes = [change for block in _blocks(fix.edits) for change in _changes(block, read_line)]
    start = _start([text for _, _, text in changes[:_MOST_LINES]], wide)
    for sign, number, text in changes[:_MOST_LINES]:
        shown = show_line(text, start, start + wide).text
        role = "error" if sign == "-" else "bold"
        digits = str(number) if sign == "-" else ""
        yield f"{paint('gutter', f' {digits:>{width}} {sign}')} {paint(role, shown)}".rstrip()
    if len(changes) > _MOST_LINES:
        yield f" {'':>{width}} … {len(changes) - _MOST_LINES} more lines: `octoc check --diff`"


def _start(lines: list[str], wide: int) -> int:
    """Return the code point from which the lines are shown, so that the place where they differ is seen."""
    if len(lines) < 2 or all(len(line) <= wide for line in lines):
        return 0
    return max(0, _common(lines[0], lines[-1]) - wide // 2)


def _common(one: str, other: str) -> int:
    """Return how many code points two texts have in common at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _blocks(edits: tuple[Edit, ...]) -> Iterator[list[Edit]]:
    """Yield edits together that touch the same lines of one file, in order."""
    block: list[Edit] = []
    for edit in sorted(edits, key=lambda each: each.span):
        if block and (edit.span.file, edit.span.line) > (block[-1].span.file, block[-1].span.end_line):
            yield block
            block = []
        block.append(edit)
    if block:
        yield block


def _changes(block: list[Edit], read_line: Callable[[str, int], str | None]) -> list[tuple[str, int, str]]:
    """Return (sign, number, text) of each line that differs; nothing where the file can no longer be read."""
    file, first = block[0].span.file, block[0].span.line
    last = max(edit.span.end_line for edit in block)
    old = [read_line(file, number) for number in range(first, last + 1)]
    # An edit may end at the start of the line after the last one.
    if old and old[-1] is None and last > first:
        old[-1] = ""
    before = [line for line in old if line is not None]
    if len(before) != len(old):
        return []
    text, starts = "\n".join(before), [0]
    for line in before:
        starts.append(starts[-1] + len(line) + 1)
    pieces, at = [], 0
    for edit in block:
        start = starts[edit.span.line - first] + edit.span.column - 1
        pieces += [text[at:start], edit.text]
        at = starts[edit.span.end_line - first] + edit.span.end_column - 1
    after = "".join((*pieces, text[at:])).split("\n")
    return [*_differing(before, after, first, lambda number: read_line(file, number))]


def _differing(
    before: list[str], after: list[str], first: int, read: Callable[[int], str | None]
) -> Iterator[tuple[str, int, str]]:
    """Yield what differs between two versions of lines, without the lines at either end that are equal."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    tail = 0
    while tail < min(len(before), len(after)) - same and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    removed, added = (lines[same : len(lines) - tail] for lines in (before, after))
    above = lines_above(read, first + same)
    if len(removed) == len(added) == 1 and len(removed[0]) > 2 * _AROUND:
        # A file in one line: only what is around the change is searched for secrets and shown.
        low = max(0, _common(removed[0], added[0]) - _AROUND)
        removed, added = ([lines[0][low : low + 2 * _AROUND]] for lines in (removed, added))
        above = "" if low else above
    for sign, lines in (("-", removed), ("+", added)):
        changed = masked_lines(lines)
        if changed:
            changed[0] = mask_secrets(lines[0], above)
        yield from ((sign, first + same + index, text) for index, text in enumerate(changed))
