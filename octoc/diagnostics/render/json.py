"""Diagnostics for programs: one JSON array, an object per diagnostic."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from octoc.diagnostics.model import Diagnostic, Fix, Span


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """Return one array in ASCII, ended by a newline. Hidden characters arrive as JSON's own escapes."""
    return json.dumps([as_object(diagnostic) for diagnostic in diagnostics], indent=2) + "\n"


def as_object(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic's fields as plain values; absent ones are null.

    `related` are other places, each with a text on what is there.
    `fix` is `{title, edits}`: each edit is a place and the text that takes its place there; all are applied, or none.
    """
    return {
        "code": diagnostic.rule.code,
        "name": diagnostic.rule.name,
        "severity": diagnostic.severity.label,
        "message": diagnostic.message,
        **_place(diagnostic.span),
        "related": [{**_place(label.span), "text": label.text} for label in diagnostic.related],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "fix": None if diagnostic.fix is None else _fix(diagnostic.fix),
    }


def _place(span: Span | None) -> dict[str, Any]:
    placed = span is not None and span.line > 0
    return {
        "file": span.file if span else None,
        "line": span.line if span and placed else None,
        "column": span.column if span and placed else None,
        "end_line": span.end_line if span and placed else None,
        "end_column": span.end_column if span and placed else None,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {"title": fix.title, "edits": [{**_place(edit.span), "text": edit.text} for edit in fix.edits]}
