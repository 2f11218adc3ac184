"""Symbolic links whose target is not there: what should make it, and whether a checkout can tell."""

from __future__ import annotations

import os
import re
from pathlib import Path

from octoc.compiler.inputs.claude.paths import is_made, submodule_of, values_of
from octoc.compiler.inputs.published import SKILLS_LOCK
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import read as rules

OUTSIDE = "outside"
"""The subject of findings about links that lead out of the repository, or into a home folder."""
_HOME = re.compile(r"/(?:home|Users)/[^/]+/|/root/")
_TEMPORARY = re.compile(r"(?:/private)?(?:/var/folders|/var/tmp|/tmp)(?=/)")


def report_broken_link(path: Path, display: str, root: Path, sink: DiagnosticSink) -> None:
    """Report the link at `path`.

    Args:
        root: the workspace or the tap, without links.
    """
    target = os.readlink(path)  # noqa: PTH115  # the text of the link, as it stands
    submodule = submodule_of(Path(os.path.realpath(path.parent), target), root)
    locked = values_of(root / SKILLS_LOCK.patterns[0]).get("skills")
    is_installed = is_made(target) or (isinstance(locked, dict) and path.name in locked)
    temporary = _TEMPORARY.match(target)
    message, advice, subject = (
        f"`{display}` is a link to `{target}`, which is not there",
        "point it to something that is there, or delete it",
        "",
    )
    if submodule:
        advice = f"run `git submodule update --init {submodule}`"
    elif is_made(target):
        advice, subject = "install the project's packages", "made"
    elif temporary is not None:
        # The names of such folders are random, and a message masks what looks like a token.
        message = f"`{display}` is a link to a temporary file below `{temporary[0]}`, which is not there"
    elif _leads_out(path, target, root):
        advice, subject = "link to a file of the repository, which every checkout has, or copy it there", OUTSIDE
    # Programs install packages and the skills that a lock lists, and git the submodules.
    severity = Severity.INFO if submodule or is_installed else None
    place = Place(file=display)
    sink.report(rules.BROKEN_LINK, message, at=place, help=advice, severity=severity, subject=subject)


def _leads_out(path: Path, target: str, root: Path) -> bool:
    """Tell whether a link leads into a home folder, or by a relative path out of the repository."""
    if target.startswith("/"):
        return _HOME.match(target) is not None
    top = next((one for one in (root, *root.parents) if (one / ".git").exists()), root)
    return not Path(os.path.normpath(Path(os.path.realpath(path.parent), target))).is_relative_to(top)
