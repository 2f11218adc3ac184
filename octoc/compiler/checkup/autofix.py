"""The fixes of what a check has found: only in files of the workspace, or of the folders and files that were named."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from octoc.compiler.checkup.check import CheckOutcome, check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.fixes.apply import FileChange, FixOutcome, inside, plan_fixes
from octoc.compiler.workspace.paths import display_path, file_at
from octoc.diagnostics.model import Diagnostic
from octoc.masking import masked_lines

if TYPE_CHECKING:
    from octoc.compiler.workspace.environment import Environment


def fixes_of(target: CheckTarget, checkup: CheckOutcome, *, environment: Environment | None = None) -> FixOutcome:
    """Return which fixes of what `checkup` shows can be applied, and what the files then are; nothing is written."""
    is_workspace = target.folder is None and target.file is None
    roots = (target.root,) if is_workspace else tuple(target.shown or (target.folder or target.file or target.root,))

    def locate(display: str) -> Path | None:
        path = Path(os.path.normpath(file_at(target.root, display)))
        return next((found for root in roots if (found := inside(root, path)) is not None), None)

    def recheck(overlay: Mapping[str, bytes]) -> tuple[Diagnostic, ...]:
        found = check_target(target, overlay=overlay, environment=environment).diagnostics
        return tuple(each for each in found if target.shows(each))

    displays = sorted(display_path(target.root, path) for path in checkup.read)
    return plan_fixes([each for each in checkup.diagnostics if target.shows(each)], locate, recheck, displays)


def unified_diff(change: FileChange) -> list[str]:
    """Return a change as lines of a unified diff, without line ends. What looks like a secret is masked in it."""
    texts = (data.decode("utf-8", "replace") for data in (change.before, change.after))
    before, after = (masked_lines(text.split("\n")) for text in texts)
    return list(difflib.unified_diff(before, after, f"a/{change.display}", f"b/{change.display}", lineterm="", n=2))
