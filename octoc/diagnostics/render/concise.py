"""One line per diagnostic: `file:line:col: error[OCTnnn] [*] message`; `[*]` where a fix is known."""

from __future__ import annotations

from collections.abc import Iterable

from octoc.diagnostics.model import Diagnostic, Span
from octoc.diagnostics.render.style import Paint, plain, role_of
from octoc.diagnostics.render.text import escape

FIXABLE = "[*]"
"""Marks a finding that `octoc check --fix` removes, as ruff does."""


def render_concise(diagnostics: Iterable[Diagnostic], paint: Paint = plain) -> str:
    """Return a line per diagnostic, each ended by a newline; nothing for none."""
    return "".join(f"{_line(diagnostic, paint)}\n" for diagnostic in diagnostics)


def where(span: Span) -> str:
    """Return `file:line:col`, or the file alone where the span is the file as a whole."""
    file = escape(span.file)
    return f"{file}:{span.line}:{span.column}" if span.line else file


def _line(diagnostic: Diagnostic, paint: Paint) -> str:
    at = f"{where(diagnostic.span)}: " if diagnostic.span else ""
    severity = f"{diagnostic.severity.label}[{diagnostic.rule.code}]"
    mark = f" {FIXABLE}" if diagnostic.fix is not None else ""
    return f"{at}{paint(role_of(diagnostic.severity), severity)}{mark} {escape(diagnostic.message)}"
