"""Read a skill without front matter."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from octoc.compiler.inputs.claude.plugin import is_claude_s
from octoc.compiler.inputs.skill import SKILL_FILE, SkillClient, is_of_client, skill_client
from octoc.compiler.model.documents import FoundFile
from octoc.compiler.read.fences import late_start, opens
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.read import NO_FRONT_MATTER

_LOOKED_INTO = 20
_FEW = 2


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
    late = late_start(text)
    sink.report(
        NO_FRONT_MATTER,
        f"the skill's front matter begins in line {late.line}, after a {late.above}: {effect}"
        if late is not None
        else f"the skill has no front matter: {effect}",
        at=Place(file=file.display),
        help=late.advice
        if late is not None
        else "start the file with `---`, `name: …`, `description: …` and `---`, so that every client reads the skill",
        severity=_severity(file, reader),
        subject=f"{reader.client} skill",
    )
    return None if reader.needs else {}


def _severity(file: FoundFile, reader: SkillClient) -> Severity | None:
    """Return the severity of a skill without front matter; None is the rule's own, where its client skips it."""
    others = [
        opens(_head(path)) for path in islice(sorted(file.path.parent.parent.glob(f"*/{SKILL_FILE}")), _LOOKED_INTO)
    ]
    if reader.needs:
        # Devin, too, reads `.agents/skills`: without any front matter, a client may read skills by its own rules.
        return None if not reader.is_shared or any(others) else Severity.WARNING
    # Outside of the folders of clients and plugins, no client looks for it; if most have none, a program reads them.
    is_elsewhere = not is_of_client(file.display)
    is_own = is_elsewhere and len(others) > _FEW and sum(others) * 2 < len(others)
    return Severity.INFO if is_own or (is_elsewhere and not is_claude_s(file.path)) else Severity.WARNING


def _head(path: Path) -> str:
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            return file.readline()
    except OSError:
        return ""
