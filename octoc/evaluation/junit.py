"""Results as JUnit XML: a test case per fixture and per floor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from octoc.diagnostics.render.text import escape
from octoc.evaluation.figures import names
from octoc.evaluation.floors import Floor
from octoc.evaluation.outcomes import MessageOutcome, Results, Verdict
from octoc.evaluation.recorded import OutcomeChange

# Characters that XML 1.0 cannot have, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(results: Results, regressions: Sequence[OutcomeChange], floors: Iterable[Floor]) -> str:
    """Return one `testsuites` document, ended by a newline.

    Regressions and floors that are not held are failures. A fixture that is not right, and was not right before or was
    not recorded, is skipped, with its outcome as the message.
    """
    worse = {id(change.fixture): change for change in regressions}
    suites = ET.Element("testsuites", name="octoc test")
    suite = ET.SubElement(suites, "testsuite", name="octoc test", errors="0")
    failures = skipped = cases = 0
    for outcome in results.all:
        fixture = outcome.fixture
        if isinstance(outcome, MessageOutcome):
            kind, text = "message", outcome.fixture.text
            expected, got = names(outcome.fixture.expect), names(outcome.got)
        else:
            kind, text = "search", outcome.fixture.query
            expected, got = names(outcome.fixture.tools), names(outcome.found)
        case = _case(suite, kind, text)
        cases += 1
        if fixture.place is not None:
            case.set("file", _sound(escape(fixture.place.file)))
        change = worse.get(id(fixture))
        summary = f"expected {expected}, got {got}"
        if change is not None:
            failures += 1
            ET.SubElement(
                case, "failure", type="regression", message=_sound(escape(f"{summary}, before {change.before}"))
            )
        elif outcome.verdict is not Verdict.RIGHT:
            skipped += 1
            ET.SubElement(case, "skipped", message=_sound(escape(f"{outcome.verdict}: {summary}")))
    for floor in floors:
        case = _case(suite, "floor", floor.name)
        cases += 1
        if not floor.held:
            failures += 1
            value = "not measured" if floor.share.value is None else f"{floor.share.value:.4f}"
            ET.SubElement(case, "failure", type="floor", message=f"{value}, expected {floor.limit}")
    for element in (suites, suite):
        element.set("tests", str(cases))
        element.set("failures", str(failures))
        element.set("skipped", str(skipped))
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _case(suite: ET.Element, kind: str, text: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=f"octoc.test.{kind}", name=_sound(escape(text)))


def _sound(text: str) -> str:
    return _NOT_XML.sub(lambda match: f"\\u{{{ord(match[0]):X}}}", text)
