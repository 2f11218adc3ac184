"""What changed between two looks at the same files."""

import attrs

from octoc.diagnostics.changes import changes_of
from octoc.diagnostics.model import Diagnostic, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import UNKNOWN_FIELD


def finding(message: str, line: int = 1) -> Diagnostic:
    """Return an error in octoc.toml."""
    span = Span(file="octoc.toml", line=line)
    return Diagnostic(rule=UNKNOWN_FIELD, message=message, severity=Severity.ERROR, span=span)


def test_a_finding_that_moved_did_not_change() -> None:
    """Findings are compared by file, rule and message, each as often as it occurs."""
    one, two = finding("one"), finding("two")
    moved = attrs.evolve(one, span=Span(file="octoc.toml", line=7))
    assert not changes_of([one, two], [moved, two])
    changes = changes_of([one, two], [one, moved, finding("three")])
    assert (changes.new, changes.gone) == ((moved, finding("three")), (two,))
