"""Read a skill without front matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.inputs.skill import skill_client
from octoc.compiler.model.documents import FoundFile
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.read import NO_FRONT_MATTER


def read_bare_skill(file: FoundFile, text: str, sink: DiagnosticSink) -> Mapping[str, Any] | None:
    """Report a skill without front matter by what its client does with it; return its values unless that skips it."""
    if text.lstrip().startswith("{{"):
        return None  # a program makes the skill from this template
    reader = skill_client(file.display, file.tap)
    if reader.needs:
        effect = f"{reader.client} skips it"
    elif reader.wants:
        effect = f"{reader.client} wants `name` and `description`"
    else:
        effect = f"{reader.client} takes its folder's name and its first paragraph"
    sink.report(
        NO_FRONT_MATTER,
        f"the skill has no front matter: {effect}",
        at=Place(file=file.display),
        help="start the file with `---`, `name: …`, `description: …` and `---`, so that every client reads the skill",
        severity=None if reader.needs else Severity.WARNING,
        subject=f"{reader.client} skill",
    )
    return None if reader.needs else {}
