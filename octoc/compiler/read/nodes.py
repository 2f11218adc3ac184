"""The tree of positions that every format is brought to: where each value and its key stand in the text."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable

import attrs

from octoc.diagnostics.model import DiagnosticSink, KeyPath, Place, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import read as rules

_MAX_DUPLICATES = 20

Range = tuple[int, int]
"""A half-open range of offsets into the text, in code points."""


@attrs.define(kw_only=True)
class Node:
    """A value's place. Mutable while its tree is built, and only then.

    Args:
        value: range of the value as written, quotes and brackets included.
        key: range of the key that holds it; None for elements of lists and for the root.
        anchor: what to point at when something inside is missing: a table's header, an object's key or opening bracket.
        style: how a string is written, which tells where its characters stand (see `literals`); "" for all else.
        children: by key or index; of a key that is there twice, the first.
        later: adds the children when they are first asked for: most tables of a file have nothing to report.
    """

    value: Range
    key: Range | None = None
    anchor: Range | None = None
    style: str = ""
    _children: dict[str | int, Node] = attrs.field(factory=dict)
    later: Callable[[Node], None] | None = None

    @property
    def children(self) -> dict[str | int, Node]:
        if self.later is not None:
            later, self.later = self.later, None
            later(self)
        return self._children


@attrs.frozen(kw_only=True)
class Duplicate:
    """A key that one object or table has twice: its key path, and the ranges of both keys.

    Args:
        is_same: both have the same text or number.
    """

    path: KeyPath
    first: Range
    second: Range
    is_same: bool = False


@attrs.frozen(kw_only=True)
class Positions:
    """All positions of one file's text."""

    root: Node
    duplicates: tuple[Duplicate, ...] = ()


@attrs.frozen
class Lines:
    """Where the lines of a text start, so that each of many offsets is found fast."""

    starts: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Lines:
        return cls((0, *(match.end() for match in re.finditer("\n", text))))

    def line_column(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of `offset`, both from 1, columns in code points."""
        line = bisect.bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


def offset_to_line_column(text: str, offset: int) -> tuple[int, int]:
    """As `Lines.line_column`, for one offset."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def span_of(text: str, file: str, at: Range) -> Span:
    """Return the span of a range of `text`."""
    line, column = offset_to_line_column(text, at[0])
    end_line, end_column = offset_to_line_column(text, at[1])
    return Span(file=file, line=line, column=column, end_line=end_line, end_column=end_column)


def report_duplicates(
    duplicates: tuple[Duplicate, ...],
    text: str,
    place: Place,
    sink: DiagnosticSink,
    note: str,
    severity: Severity | None = None,
    severity_of_same: Severity | None = None,
) -> None:
    """Report each key that is there twice, at its second place and with the first.

    Args:
        severity_of_same: the severity where both have the same value; None where it is that of the others.
    """
    for duplicate in duplicates[:_MAX_DUPLICATES]:
        is_harmless = duplicate.is_same and severity_of_same is not None
        sink.report(
            rules.DUPLICATE_KEY,
            f"key `{duplicate.path[-1]}` is there twice{', with the same value' if is_harmless else ''}",
            at=span_of(text, place.file, duplicate.second),
            related={"it is here first": attrs.evolve(place, path=duplicate.path).key()},
            notes=() if is_harmless else (note,),
            help="delete one of them" if is_harmless else "delete or rename one of them",
            severity=severity_of_same if is_harmless else severity,
        )
    if len(duplicates) > _MAX_DUPLICATES:
        more = len(duplicates) - _MAX_DUPLICATES
        message = f"{more} more keys are there twice"
        sink.report(rules.DUPLICATE_KEY, message, at=Place(file=place.file), severity=severity)
