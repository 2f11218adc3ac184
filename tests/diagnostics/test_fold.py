"""Findings that say the same of many places are shown as one."""

import attrs

from octoc.diagnostics.fold import folded
from octoc.diagnostics.model import Diagnostic, Edit, Fix, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import UNKNOWN_FIELD


def finding(line: int, subject: str = "mcp:size") -> Diagnostic:
    """Return a finding about one field at a line of one file."""
    span = Span(file=".mcp.json", line=line, column=1, end_line=line, end_column=4)
    return Diagnostic(
        rule=UNKNOWN_FIELD, message=f"unknown field in {line}", severity=Severity.WARNING, span=span, subject=subject
    )


def test_findings_with_one_subject_are_the_first_with_a_count() -> None:
    """A note names three other places and counts the rest."""
    (one,) = folded(finding(line) for line in range(1, 8))
    assert one.message == "unknown field in 1 (and 6 more)"
    assert one.notes == ("also at `.mcp.json:2`, `.mcp.json:3`, `.mcp.json:4` and 3 more places",)
    assert folded([finding(1), finding(2)])[0].notes == ("also at `.mcp.json:2`",)


def test_other_findings_stay_apart() -> None:
    """Another subject, severity, message without a subject, or edit is another finding, and the order stays."""
    fix = Fix(title="write `b`", edits=(Edit(span=Span(file=".mcp.json"), text="b"),))
    apart = (
        finding(1),
        finding(2, "mcp:other"),
        attrs.evolve(finding(3), severity=Severity.INFO),
        finding(4, ""),
        finding(5, ""),
        attrs.evolve(finding(6), fix=fix),
        attrs.evolve(finding(7), fix=attrs.evolve(fix, title="write `c`")),
        attrs.evolve(finding(8, ""), message="m", span=None),
        attrs.evolve(finding(9, ""), message="n", span=None),
    )
    assert folded(apart) == apart


def test_one_message_or_one_edit_in_many_places_is_one_finding() -> None:
    """Findings without a subject that say the same are one; so are fixable ones, with the fix of the first place."""
    same = [attrs.evolve(finding(line, ""), message="same") for line in (1, 2)]
    assert [one.message for one in folded(same)] == ["same (and 1 more)"]
    edits = [Edit(span=Span(file=name), text="b") for name in ("one", "two")]
    fixable = [attrs.evolve(finding(n), fix=Fix(title="write `b`", edits=(edit,))) for n, edit in enumerate(edits, 1)]
    (one,) = folded(fixable)
    assert one.fix == fixable[0].fix


def test_findings_above_a_severity_stay_apart() -> None:
    """`most` is the highest severity that is folded."""
    found = [finding(1), finding(2), *(attrs.evolve(finding(line), severity=Severity.INFO) for line in (3, 4))]
    assert [one.severity for one in folded(found, most=Severity.INFO)] == [Severity.WARNING] * 2 + [Severity.INFO]
