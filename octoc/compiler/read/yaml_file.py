"""YAML files: values from PyYAML's events, and diagnostics for what their clients refuse."""

from __future__ import annotations

import re
from typing import Any

from octoc.compiler.read.nodes import offset_to_line_column, report_duplicates
from octoc.compiler.read.values import sound
from octoc.compiler.read.yaml import YamlError, parse_yaml
from octoc.diagnostics.model import DiagnosticSink, Place, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import read as rules

# Helm, Jinja, Go and Handlebars templates: a program writes the client's file from one.
_TEMPLATE = re.compile(r"\{\{[-~]?\s*[.$\w]|\{\{~?[#/^>]\s*\w|\{%")

LIKE_A_TEMPLATE = "the file looks like a template"
"""The note of a file that another program fills in: a build cannot use it, and a check of a folder expects it."""


def read_yaml(text: str, place: Place, sink: DiagnosticSink, *, takes_last: bool = False) -> dict[str, Any] | None:
    """Return the values of a YAML file, none for an empty one; report and return None when it is not an object.

    A key that is there twice has its first value, and the error says both places.

    Args:
        takes_last: the file's client uses the last of two values of a key: a warning says so.
    """
    try:
        tree = parse_yaml(text)
    except YamlError as error:
        line, column = offset_to_line_column(text, error.offset)
        is_template = _TEMPLATE.search(text) is not None
        sink.report(
            rules.TOO_DEEP if error.too_deep else rules.YAML_SYNTAX,
            error.message,
            at=Span(file=place.file, line=line, column=column, end_line=line, end_column=column + 1),
            notes=(LIKE_A_TEMPLATE,) if is_template else (),
        )
        return None
    if tree.value is None:
        return {}
    if not isinstance(tree.value, dict):
        at = Span(file=place.file, line=1, column=1, end_line=1, end_column=2)
        sink.report(rules.YAML_SYNTAX, "expected `key: value` lines as the whole file", at=at)
        return None
    note = "the client uses the last" if takes_last else "some programs refuse the file, others use the last"
    severity = Severity.WARNING if takes_last else None
    report_duplicates(tree.positions.duplicates, text, place, sink, f"{note}; octoc uses the first", severity)
    return sound(tree.value, place, sink)
