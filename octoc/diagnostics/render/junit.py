"""Diagnostics as JUnit XML: a test case per file, which fails when something is wrong there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.render.concise import where
from octoc.diagnostics.render.text import escape
from octoc.diagnostics.rule import Severity

_WORKSPACE = "octoc"
# What XML 1.0 cannot hold, in whatever form it is written.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(
    diagnostics: Iterable[Diagnostic], *, files: Sequence[str] = (), fail_on: Severity | None = Severity.ERROR
) -> str:
    """Return one `testsuites` document, ended by a newline.

    Args:
        files: those that were looked at; one without a finding is a test case that passes.
        fail_on: findings of this severity or above are failures, the others output of the test case; None: no failure.
    """
    cases: dict[str, list[Diagnostic]] = {file: [] for file in files}
    for found in diagnostics:
        cases.setdefault(found.span.file if found.span is not None else _WORKSPACE, []).append(found)
    suites = ET.Element("testsuites", name="octoc")
    suite = ET.SubElement(suites, "testsuite", name="octoc check", errors="0", skipped="0")
    failed = 0
    for file in sorted(cases):
        failed += _add_case(suite, file, cases[file], fail_on)
    for element in (suites, suite):
        element.set("tests", str(len(cases)))
        element.set("failures", str(failed))
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _add_case(suite: ET.Element, file: str, found: list[Diagnostic], fail_on: Severity | None) -> bool:
    """Add a file's test case, and return whether it failed."""
    name = _sound(escape(file))
    case = ET.SubElement(suite, "testcase", classname="octoc.check", name=name, file=name)
    failures = [one for one in found if fail_on is not None and one.severity >= fail_on]
    for one in failures:
        failure = ET.SubElement(case, "failure", type=one.rule.code, message=_headline(one))
        failure.text = _text(one)
    others = [_text(one) for one in found if one not in failures]
    if others:
        ET.SubElement(case, "system-out").text = "\n".join(others)
    return bool(failures)


def _headline(found: Diagnostic) -> str:
    return _sound(f"{found.severity.label}[{found.rule.code}] {found.rule.name}: {escape(found.message)}")


def _text(found: Diagnostic) -> str:
    lines = [_headline(found)]
    lines += [f"at {where(found.span)}"] if found.span is not None else []
    lines += [f"note: {escape(note)}" for note in found.notes]
    lines += [f"help: {escape(found.help)}"] if found.help is not None else []
    return _sound("\n".join(lines))


def _sound(text: str) -> str:
    return _NOT_XML.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", text)
