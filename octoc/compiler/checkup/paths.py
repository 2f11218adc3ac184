"""All that `octoc check` was asked for in one go, under paths that are relative to one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from octoc.compiler.checkup.check import CheckOutcome, check_target
from octoc.compiler.checkup.target import CheckTarget, not_read, rebased, targets_of
from octoc.compiler.context import Progress, no_progress
from octoc.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from octoc.compiler.workspace.environment import Environment


@attrs.frozen(kw_only=True)
class CheckedPaths:
    """What several checks came to.

    Args:
        base: the folder that the paths of `diagnostics` are relative to.
        diagnostics: the findings that were asked for, each once, by file, line and column.
        parts: what was checked, and what that came to; paths as each part has them.
    """

    base: Path
    diagnostics: tuple[Diagnostic, ...]
    parts: tuple[tuple[CheckTarget, CheckOutcome], ...]


def check_paths(
    paths: Sequence[Path],
    cwd: Path,
    *,
    workspace: Path | None = None,
    kind: str | None = None,
    progress: Progress = no_progress,
    use_cache: bool = True,
    environment: Environment | None = None,
    home: Path | None = None,
) -> CheckedPaths:
    """Check `paths`, which exist, as `targets_of` tells; workspaces that lie in a named folder are checked, too.

    Args:
        environment: what the place of running has; None says nothing of it.
        home: the user's folder, whose files the check then reads, too.
    """
    pending = targets_of(paths, cwd, workspace=workspace, kind=kind)
    parts: list[tuple[CheckTarget, CheckOutcome]] = []
    while pending:
        target = pending.pop(0)
        checkup = check_target(target, progress=progress, use_cache=use_cache, environment=environment, home=home)
        parts.append((target, checkup))
        pending.extend(not_read(target, checkup.read))
        pending.extend(CheckTarget(root=folder, shown=target.shown) for folder in checkup.workspaces)
    return gathered(parts, cwd, has_paths=bool(paths))


def gathered(parts: Sequence[tuple[CheckTarget, CheckOutcome]], cwd: Path, *, has_paths: bool) -> CheckedPaths:
    """Return what was asked for of several checks. One check without named paths keeps its own root."""
    base = parts[0][0].root if len(parts) == 1 and not has_paths else cwd
    found = {
        moved.sort_key: moved
        for target, checkup in parts
        for diagnostic in checkup.diagnostics
        if target.shows(diagnostic)
        for moved in [diagnostic if target.root == base else rebased(diagnostic, target.root, base)]
    }
    return CheckedPaths(
        base=base,
        diagnostics=tuple(sorted(found.values(), key=lambda diagnostic: diagnostic.sort_key)),
        parts=tuple(parts),
    )
