"""Diagnostics as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

from octoc.diagnostics.model import Diagnostic, Edit, Fix, Span
from octoc.diagnostics.render.text import escape
from octoc.diagnostics.rule import Rule, Severity

VERSION = "2.1.0"
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
"""The base of relative paths, which the reader of the log knows."""

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
# Within a message `[text](target)` is a link and `{0}` an argument, even in plain text (SARIF 3.11.5, 3.11.6).
_LINK = "]("
_ARGUMENT = re.compile(r"\{\d+\}")


def render_sarif(
    diagnostics: Iterable[Diagnostic],
    *,
    version: str,
    page_of: Callable[[Rule], str | None] = lambda _: None,
    url_of: Callable[[Rule], str | None] = lambda _: None,
    placeless: str = "octoc.toml",
) -> str:
    """Return one log with one run, in ASCII, ended by a newline.

    Args:
        version: octoc's own.
        page_of: rule -> its page in Markdown.
        url_of: rule -> the address of its page.
        placeless: the file that a finding without a place is shown at, since code scanning refuses one without.
    """
    found = list(diagnostics)
    rules = {one.rule.code: one.rule for one in found}
    index = {code: place for place, code in enumerate(sorted(rules))}
    run = {
        "tool": {
            "driver": {
                "name": "octoc",
                "version": version,
                "semanticVersion": version,
                "rules": [_rule(rules[code], page_of(rules[code]), url_of(rules[code])) for code in index],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the checkout."}}},
        "results": [_result(one, index[one.rule.code], placeless) for one in found],
    }
    return json.dumps({"$schema": SCHEMA, "version": VERSION, "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule, page: str | None, url: str | None) -> dict[str, Any]:
    help_ = {"help": {"text": page, "markdown": page}} if page is not None else {}
    address = {"helpUri": url} if url is not None else {}
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": _message(rule.summary)},
        "fullDescription": {"text": _message(rule.summary)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"since": rule.since},
        **address,
        **help_,
    }


def _result(found: Diagnostic, rule_index: int, placeless: str) -> dict[str, Any]:
    lines = [found.message, *(f"note: {note}" for note in found.notes)]
    lines += [f"help: {found.help}"] if found.help is not None else []
    result: dict[str, Any] = {
        "ruleId": found.rule.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[found.severity],
        "message": {"text": _message(*lines)},
        "locations": [_location(found.span or Span(file=placeless), found.label)],
    }
    if found.related:
        result["relatedLocations"] = [
            {"id": place, **_location(label.span, label.text)} for place, label in enumerate(found.related, start=1)
        ]
    if found.fix is not None and found.fix.edits and all(edit.span.line for edit in found.fix.edits):
        result["fixes"] = [_fix(found.fix)]
    return result


def _location(span: Span, text: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(span.file)}
    if span.line:
        physical["region"] = _region(span)
    message = {"message": {"text": _message(text)}} if text else {}
    return {"physicalLocation": physical, **message}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    by_file: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        by_file.setdefault(edit.span.file, []).append(edit)
    changes = [
        {"artifactLocation": _artifact(file), "replacements": [_replacement(edit) for edit in edits]}
        for file, edits in by_file.items()
    ]
    return {"description": {"text": _message(fix.title)}, "artifactChanges": changes}


def _replacement(edit: Edit) -> Mapping[str, Any]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}}


def _artifact(file: str) -> dict[str, str]:
    try:
        written = file.encode("utf-8", "surrogateescape")  # a file name of the system may not be UTF-8
    except UnicodeEncodeError:
        written = file.encode("utf-8", "replace")
    uri = quote(written, safe="/")
    return {"uri": f"file://{uri}"} if file.startswith("/") else {"uri": uri, "uriBaseId": ROOT}


def _message(*lines: str) -> str:
    text = "\n".join(map(escape, lines))
    if _LINK in text:
        text = re.sub(r"[\\\[\]]", r"\\\g<0>", text)
    return re.sub(r"[{}]", r"\g<0>\g<0>", text) if _ARGUMENT.search(text) else text
