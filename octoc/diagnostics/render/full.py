"""A diagnostic for people: headline, place, the source lines with what is meant underlined, notes and the next step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import attrs

from octoc.diagnostics.model import Diagnostic, Span
from octoc.diagnostics.render.concise import FIXABLE, where
from octoc.diagnostics.render.fix_diff import diff_lines
from octoc.diagnostics.render.style import Paint, plain, role_of
from octoc.diagnostics.render.text import ShownLine, cells, escape, show_line, wrapped
from octoc.masking import lines_above, mask_secrets

ReadLine = Callable[[str, int], str | None]
"""Returns line n (from 1) of a file as a span names it, without its line end; None when there is no such line."""

_WIDE = 120
"""Code points of one source line that are shown at most."""
_NARROW = 16
"""Code points of one source line that are shown at least, however narrow the terminal is."""
_AROUND = 1000
"""Code points on each side of a span that are searched for secrets: what is cut off here cannot reach the screen."""
_HEAD, _TAIL = 4, 2
"""Lines of a span of many lines that are shown before and after what is left out."""


def render_full(
    diagnostics: Iterable[Diagnostic], read_line: ReadLine, paint: Paint = plain, columns: int | None = None
) -> str:
    """Return the diagnostics as text, a blank line between two; nothing for none.

    Every line quoted from a file is masked (`octoc.masking.mask_secrets`); all text from inputs is escaped.

    Args:
        columns: the width of the terminal in cells: longer lines are wrapped and source lines cut, paths stay whole.
            None wraps nothing.
    """
    return "\n".join(_render(diagnostic, read_line, paint, columns) for diagnostic in diagnostics)


@attrs.frozen(kw_only=True)
class _Row:
    """One row of a snippet: a source line with its number, or marks under one, followed by a label."""

    number: int | None
    source: str = ""
    bars: str = ""  # in the two cells before the source
    marks: str = ""
    label: str = ""

    def lines(self, gutter: str, paint: Paint, role: str, columns: int | None) -> Iterator[str]:
        """Yield the row after `gutter`; a label that does not fit beside its marks goes below them."""
        room = None if columns is None else max(columns - cells(gutter) - 1, _NARROW)
        marked = f"{self.bars}{self.source}{self.marks}"
        fits = room is None or cells(f"{marked} {self.label}") <= room
        marks = " ".join(part for part in (self.marks, self.label if fits else "") if part)
        bars = self.bars if self.source or marks else self.bars.rstrip()
        yield _after(gutter, f"{paint(role, bars)}{self.source}{paint(role, marks)}", paint)
        if self.label and not fits and room is not None:
            start = cells(marked) - len(self.marks.lstrip())
            start = start if room - start >= _NARROW else 0
            for line in wrapped(" " * start + self.label, room, indent=start):
                yield _after(" " * (len(gutter) - 1) + "|", paint(role, line), paint)


def _after(gutter: str, text: str, paint: Paint) -> str:
    return f"{paint('gutter', gutter)} {text}" if text else paint("gutter", gutter)


def _render(diagnostic: Diagnostic, read_line: ReadLine, paint: Paint, columns: int | None) -> str:
    role = role_of(diagnostic.severity)
    places = list(_places(diagnostic))
    digits = len(str(max((max(span.line, span.end_line) for span, _, _ in places), default=0)))
    wide = _WIDE if columns is None else min(_WIDE, max(columns - digits - 7, _NARROW))
    snippets = [_Snippet.of(span, label, mark, read_line, wide) for span, label, mark in places]
    width = max((len(str(number)) for snippet in snippets for number in snippet.numbers()), default=1)
    lines = list(_head(diagnostic, paint, columns))
    for snippet in snippets:
        lines.extend(snippet.lines(width, paint, role, columns))
    lines.extend(_remarks(diagnostic, width, paint, columns))
    if diagnostic.fix is not None:
        lines.extend(diff_lines(diagnostic.fix, read_line, paint, width=width, wide=wide, columns=columns))
    return "".join(f"{line}\n" for line in lines)


def _head(diagnostic: Diagnostic, paint: Paint, columns: int | None) -> Iterator[str]:
    head = f"{diagnostic.severity.label}[{diagnostic.rule.code}]"
    mark = f" {FIXABLE}" if diagnostic.fix is not None else ""
    text = f"{diagnostic.rule.name}: {escape(diagnostic.message)}"
    first, *rest = wrapped(text, columns, indent=2, taken=len(head) + len(mark) + 1)
    yield f"{paint(role_of(diagnostic.severity), head)}{mark} {paint('bold', first)}"
    yield from (paint("bold", line) for line in rest)


def _places(diagnostic: Diagnostic) -> Iterator[tuple[Span, str, str]]:
    if diagnostic.span is not None:
        yield diagnostic.span, diagnostic.label, "^"
    for label in diagnostic.related:
        yield label.span, label.text, "-"


def _remarks(diagnostic: Diagnostic, width: int, paint: Paint, columns: int | None) -> Iterator[str]:
    remarks = [("note", note) for note in diagnostic.notes]
    if diagnostic.help is not None:
        remarks.append(("help", diagnostic.help))
    remarks.append(("see", f"octoc explain {diagnostic.rule.code}"))
    for word, text in remarks:
        first, *rest = wrapped(escape(text), columns, indent=width + 4, taken=width + len(word) + 6)
        yield f"{' ' * (width + 2)}{paint('gutter', '=')} {paint('bold', f'{word}:')} {first}"
        yield from rest


@attrs.frozen(kw_only=True)
class _Snippet:
    """A place, and the rows that show it; no rows when its source is not there."""

    span: Span
    label: str
    mark: str
    rows: tuple[_Row, ...]

    @classmethod
    def of(cls, span: Span, label: str, mark: str, read_line: ReadLine, wide: int) -> _Snippet:
        label = escape(label)
        rows = tuple(_rows(span, label, mark, read_line, wide)) if span.line else ()
        return cls(span=span, label=label, mark=mark, rows=rows)

    def numbers(self) -> Iterator[int]:
        return (row.number for row in self.rows if row.number is not None)

    def lines(self, width: int, paint: Paint, role: str, columns: int | None) -> Iterator[str]:
        primary = self.mark == "^"
        said = "" if self.rows or not self.label else f": {self.label}"
        yield f"{' ' * (width + 1)}{paint('gutter', '-->' if primary else ':::')} {where(self.span)}{said}"
        if self.rows:
            yield paint("gutter", f"{' ' * (width + 2)}|")
        for row in self.rows:
            number = "" if row.number is None else row.number
            yield from row.lines(f" {number:>{width}} |", paint, role if primary else "gutter", columns)


def _rows(span: Span, label: str, mark: str, read_line: ReadLine, wide: int) -> Iterator[_Row]:
    first = read_line(span.file, span.line)
    if first is None:
        return
    end_line, end_column = _end(span, read_line)
    if end_line > span.line:
        yield from _rows_of_many(span, end_line, end_column, label, mark, read_line, wide)
        return
    shown = _quoted(first, span.column, end_column, above=_above(span.file, span.line, read_line), wide=wide)
    start, end = shown.cell(span.column), shown.cell(end_column)
    yield _Row(number=span.line, source=shown.text)
    yield _Row(number=None, marks=f"{' ' * start}{mark * max(end - start, 1)}", label=label)


def _rows_of_many(
    span: Span, end_line: int, end_column: int, label: str, mark: str, read_line: ReadLine, wide: int
) -> Iterator[_Row]:
    first = read_line(span.file, span.line) or ""
    shown = _quoted(first, span.column, len(first) + 1, above=_above(span.file, span.line, read_line), wide=wide)
    from_start = not first[: span.column - 1].strip()
    yield _Row(number=span.line, bars="/ " if from_start else "  ", source=shown.text)
    if not from_start:
        yield _Row(number=None, marks=" " + "_" * (shown.cell(span.column) + 1) + mark)
    numbers = range(span.line + 1, end_line + 1)
    left_out = len(numbers) > _HEAD + _TAIL
    for place, number in enumerate(numbers):
        if left_out and _HEAD <= place < len(numbers) - _TAIL:
            if place == _HEAD:
                yield _Row(number=None, bars="| ", source="…")
            continue
        column = end_column if number == end_line else 1
        line = read_line(span.file, number) or ""
        shown = _quoted(line, column, column, above=_above(span.file, number, read_line), wide=wide)
        yield _Row(number=number, bars="| ", source=shown.text)
    last = max(shown.cell(end_column) - 1, 0)
    yield _Row(number=None, marks="|_" + "_" * last + mark, label=label)


def _end(span: Span, read_line: ReadLine) -> tuple[int, int]:
    """Return the exclusive end, on the line of the last character that belongs to the span."""
    if (span.end_line, span.end_column) <= (span.line, span.column):
        return span.line, span.column + 1
    if span.end_column > 1 or span.end_line == span.line:
        return span.end_line, span.end_column
    before = read_line(span.file, span.end_line - 1) or ""
    return span.end_line - 1, max(len(before) + 1, 2)


def _above(file: str, line: int, read_line: ReadLine) -> str:
    return lines_above(lambda number: read_line(file, number), line)


def _quoted(line: str, column: int, end_column: int, *, above: str, wide: int) -> ShownLine:
    """Return a line as it is shown: masked, and cut to `wide` cells around the columns. `above` is the line before."""
    start = min(max(column - 1, 0), len(line))
    low, high = max(start - _AROUND, 0), start + _AROUND
    masked = line[:low] + mask_secrets(line[low:high], "" if low else above) + line[high:]
    whole = show_line(masked)
    if len(line) <= _WIDE and (wide >= _WIDE or cells(whole.text) <= wide):
        return whole
    # A wide character takes two cells and a hidden one several: fewer code points are shown, until they fit.
    for count in range(wide, 0, -4):
        size = min(max(end_column - 1 - start, 1), count // 2)
        first = max(min(start - (count - size) // 2, len(line) - count), 0)
        shown = show_line(masked, first, first + count)
        if wide >= _WIDE or cells(shown.text) <= wide + 2:
            return shown
    return shown
