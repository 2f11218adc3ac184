"""Marks of a merge in the lock."""

from __future__ import annotations

import re

from octoc.compiler.workspace.paths import LOCK_FILE
from octoc.diagnostics.model import DiagnosticSink, Span
from octoc.diagnostics.rules.lock import LOCK_CONFLICT

_MARK = re.compile(r"^<{7}(?: |$)", re.MULTILINE)


def has_conflict(text: str, sink: DiagnosticSink) -> bool:
    """Return whether a lock has a conflict of a merge, and report the first."""
    found = _MARK.search(text)
    if found is None:
        return False
    sink.report(
        LOCK_CONFLICT,
        f"`{LOCK_FILE}` has conflicts of a merge",
        at=Span(file=LOCK_FILE, line=text.count("\n", 0, found.start()) + 1, column=1),
        help="resolve the conflicts of all other files, take one side of this one by "
        f"`git checkout --theirs {LOCK_FILE}`, and run `octoc build`: it writes the lock of the merged files",
    )
    return True
