"""Diagnostics as GitHub's workflow commands, which the runner turns into annotations: a line per diagnostic."""

from __future__ import annotations

import re
from collections.abc import Iterable

from octoc.diagnostics.model import Diagnostic, Span
from octoc.diagnostics.render.text import escape
from octoc.diagnostics.rule import Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
# The percent sign first: it begins every escape.
_DATA = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY = (*_DATA, (":", "%3A"), (",", "%2C"))
# A command starts a line; the runner's older form, `##[…]`, is obeyed anywhere in one.
_AT_START = re.compile(r"^(\s*)::", re.MULTILINE)


def render_github(diagnostics: Iterable[Diagnostic]) -> str:
    """Return a command per diagnostic, each ended by a newline; nothing for none.

    Text is escaped as the runner defines it, so that no input begins a command or adds a property to one.
    """
    return "".join(f"{_command(diagnostic)}\n" for diagnostic in diagnostics)


def defuse(text: str) -> str:
    """Return text for people as a runner's log may have it: nothing in it is obeyed as a workflow command."""
    return _AT_START.sub(r"\1\\::", text).replace("##[", "##\\[")


def _command(found: Diagnostic) -> str:
    properties = {**_place(found.span), "title": escape(f"{found.rule.code} {found.rule.name}")}
    written = ",".join(f"{name}={_escaped(str(value), _PROPERTY)}" for name, value in properties.items())
    lines = [found.message, *(f"note: {note}" for note in found.notes)]
    lines += [f"help: {found.help}"] if found.help is not None else []
    return f"::{_COMMANDS[found.severity]} {written}::{_escaped(chr(10).join(map(escape, lines)), _DATA)}"


def _place(span: Span | None) -> dict[str, str | int]:
    if span is None:
        return {}
    place: dict[str, str | int] = {"file": escape(span.file)}
    if not span.line:
        return place
    # GitHub has columns only for annotations of one line.
    if span.end_line == span.line:
        return {**place, "line": span.line, "col": span.column, "endLine": span.line, "endColumn": span.end_column}
    return {**place, "line": span.line, "endLine": span.end_line}


def _escaped(text: str, table: tuple[tuple[str, str], ...]) -> str:
    for character, written in table:
        text = text.replace(character, written)
    return text
