"""All that `octoc check` was asked for in one go, under paths that are relative to one folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from octoc.compiler.checkup.check import Checkup, check_subject
from octoc.compiler.checkup.target import Subject, not_read, rebased, subjects_of
from octoc.compiler.context import Progress, no_progress
from octoc.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from octoc.compiler.workspace.environment import Environment


@attrs.frozen(kw_only=True)
class Checked:
    """What several checks came to.

    Args:
        base: the folder that the paths of `diagnostics` are relative to.
        diagnostics: the findings that were asked for, each once, by file, line and column.
        parts: what was checked, and what that came to; paths as each part has them.
    """

    base: Path
    diagnostics: tuple[Diagnostic, ...]
    parts: tuple[tuple[Subject, Checkup], ...]


def check_paths(
    paths: Sequence[Path],
    cwd: Path,
    *,
    workspace: Path | None = None,
    kind: str | None = None,
    progress: Progress = no_progress,
    use_cache: bool = True,
    environment: Environment | None = None,
) -> Checked:
    """Check `paths`, which exist, as `subjects_of` tells; workspaces that lie in a named folder are checked, too.

    Args:
        environment: what the place of running has; None says nothing of it.
    """
    pending = subjects_of(paths, cwd, workspace=workspace, kind=kind)
    parts: list[tuple[Subject, Checkup]] = []
    while pending:
        subject = pending.pop(0)
        checkup = check_subject(subject, progress=progress, use_cache=use_cache, environment=environment)
        parts.append((subject, checkup))
        pending.extend(not_read(subject, checkup.read))
        pending.extend(Subject(root=folder, shown=subject.shown) for folder in checkup.workspaces)
    return gathered(parts, cwd, has_paths=bool(paths))


def gathered(parts: Sequence[tuple[Subject, Checkup]], cwd: Path, *, has_paths: bool) -> Checked:
    """Return what was asked for of several checks. One check without named paths keeps its own root."""
    base = parts[0][0].root if len(parts) == 1 and not has_paths else cwd
    found = {
        moved.sort_key: moved
        for subject, checkup in parts
        for diagnostic in checkup.diagnostics
        if subject.shows(diagnostic)
        for moved in [diagnostic if subject.root == base else rebased(diagnostic, subject.root, base)]
    }
    return Checked(
        base=base,
        diagnostics=tuple(sorted(found.values(), key=lambda diagnostic: diagnostic.sort_key)),
        parts=tuple(parts),
    )
