"""Read a skill without front matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.inputs.skill import needs_front_matter
from octoc.compiler.model.documents import FoundFile
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.read import NO_FRONT_MATTER


def read_bare_skill(file: FoundFile, sink: DiagnosticSink) -> Mapping[str, Any] | None:
    """Return the values of a skill that Claude Code takes without front matter, and report it; None for any other."""
    if needs_front_matter(file.display, file.tap):
        return None
    sink.report(
        NO_FRONT_MATTER,
        "the skill has no front matter: Claude Code takes its folder's name and its first paragraph",
        at=Place(file=file.display),
        help="write `name` and `description` as front matter, so that other clients read the skill, too",
        severity=Severity.WARNING,
        subject="lenient",
    )
    return {}
