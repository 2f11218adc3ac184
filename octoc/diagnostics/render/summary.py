"""The last line: how many of each severity there are, and how to see those that were not shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.render.concise import FIXABLE
from octoc.diagnostics.rule import Severity


def summary(diagnostics: Iterable[Diagnostic], *, infos_shown: bool) -> str:
    """Return for example `2 errors, 1 warning, 12 infos (--verbose shows infos)`, and a line that counts fixes."""
    found = list(diagnostics)
    counts = Counter(diagnostic.severity for diagnostic in found)
    if not counts:
        return "no problems found"
    parts = [_counted(counts[severity], severity.label) for severity in sorted(counts, reverse=True)]
    hidden = counts[Severity.INFO] and not infos_shown
    fixable = sum(diagnostic.fix is not None for diagnostic in found)
    offer = f"\n{FIXABLE} {fixable} can be fixed with `octoc check --fix`" if fixable else ""
    return ", ".join(parts) + (" (--verbose shows infos)" if hidden else "") + offer


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
