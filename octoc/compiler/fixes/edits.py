"""Fixes as text edits on the original file: quotes, escapes, comments and layout around them stay as they are.

Each function returns what `DiagnosticSink.report` takes as `fix`. A fix is given up, not guessed, where the text at the
place is not exactly what was expected: an escape in it, or several lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import attrs

from octoc.diagnostics.model import Edit, Fix, Locator, Place, Span
from octoc.diagnostics.suggest import typo_of

MakeFix = Callable[[Locator], Fix | None]

_PLAIN_YAML_STOPS = frozenset("{}[],#:\"'\\\n")


def replaced(place: Place, old: str, new: str, title: str) -> MakeFix:
    """Replace the value or the key `old` at `place` by `new`; quotes around it stay. `place` may have a `within`."""

    def make(locate: Locator) -> Fix | None:
        if not _is_writable(place, new):
            return None
        span = _inside_quotes(locate(place), len(old))
        return None if span is None else Fix(title=title, edits=(Edit(span=span, text=new),))

    return make


def renamed(place: Place, old: str, known: Iterable[str]) -> MakeFix | None:
    """Replace `old` by the one known name that it is a slip of; None when there is none, or more than one."""
    new = typo_of(old, known)
    return None if new is None else replaced(place, old, new, f"write `{new}`")


def removed(whole: Place, parts: Sequence[Place], title: str) -> MakeFix:
    """Remove `parts`, each a `within` of the value at `whole`."""

    def make(locate: Locator) -> Fix | None:
        around = locate(whole)
        spans = [locate(part) for part in parts]
        # A value without quotes has no parts of its own: its span would be the whole.
        if around in spans or any(span.line != span.end_line for span in spans):
            return None
        return Fix(title=title, edits=tuple(Edit(span=span, text="") for span in spans))

    return make


def inserted_before(place: Place, text: str, title: str) -> MakeFix:
    """Insert `text` right before the value or key at `place`."""

    def make(locate: Locator) -> Fix | None:
        span = locate(place)
        if span.line == 0:
            return None
        start = attrs.evolve(span, end_line=span.line, end_column=span.column)
        return Fix(title=title, edits=(Edit(span=start, text=text),))

    return make


def _inside_quotes(span: Span, length: int) -> Span | None:
    if span.line == 0 or span.line != span.end_line:
        return None
    written = span.end_column - span.column
    if written == length:
        return span
    if written == length + 2:
        return attrs.evolve(span, column=span.column + 1, end_column=span.end_column - 1)
    return None


def _is_writable(place: Place, new: str) -> bool:
    """Tell whether `new` means itself in every form of string that the file may have at `place`."""
    if not new.isprintable() or any(mark in new for mark in "\"'\\"):
        return False
    return not place.file.endswith(".md") or not _PLAIN_YAML_STOPS & set(new)
