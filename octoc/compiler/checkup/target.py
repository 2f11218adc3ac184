"""What `octoc check PATH…` is about: workspaces, folders without octoc.toml, single files; and what of it is shown."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import attrs

from octoc.compiler.workspace.paths import WORKSPACE_FILE, file_at, find_workspace
from octoc.diagnostics.model import Diagnostic, Span


@attrs.frozen(kw_only=True)
class CheckTarget:
    """Files that are checked together.

    Args:
        root: the folder that display paths are relative to; absolute.
        folder: looked through as one without octoc.toml. None for a workspace, which is `root`, and for a file.
        file: checked by itself.
        kind: the kind of `file`, as `--kind` takes it; None when path and content tell.
        shown: only findings in these files and folders are shown; None shows all.
    """

    root: Path
    folder: Path | None = None
    file: Path | None = None
    kind: str | None = None
    shown: frozenset[Path] | None = None

    def shows(self, found: Diagnostic) -> bool:
        """Tell whether a finding is one that was asked for. A finding without a place always is."""
        if self.shown is None or found.span is None:
            return True
        return self.covers(_normal(file_at(self.root, found.span.file)))

    def covers(self, path: Path) -> bool:
        """Tell whether a file, absolute, is one that was asked for."""
        return self.shown is None or any(path == wanted or wanted in path.parents for wanted in self.shown)


def targets_of(
    paths: Sequence[Path], cwd: Path, *, workspace: Path | None = None, kind: str | None = None
) -> list[CheckTarget]:
    """Return what is to be checked for `paths`, which exist; for none, what `cwd` lies in.

    A path below an octoc.toml stands for that workspace, of which only the path's findings are shown; a file of a tap
    for the tap, likewise. A file is checked by itself with `kind`, or when nothing else would read it.

    Args:
        workspace: the folder of the workspace, whatever is above the paths.
    """
    cwd = _normal(cwd)
    if not paths:
        root = _normal(workspace) if workspace is not None else find_workspace(cwd)
        if root is not None and (root / WORKSPACE_FILE).exists():
            return [CheckTarget(root=root)]
        return [CheckTarget(root=root or cwd, folder=root or cwd)]
    targets: dict[tuple[Path, Path | None, Path | None], CheckTarget] = {}
    for path in (_normal(cwd / path) for path in paths):
        for target in _for_path(path, cwd, workspace, kind):
            key = (target.root, target.folder, target.file)
            before = targets.get(key)
            targets[key] = target if before is None else attrs.evolve(before, shown=_both(before.shown, target.shown))
    return list(targets.values())


def not_read(target: CheckTarget, read: frozenset[Path]) -> list[CheckTarget]:
    """Return a target of its own for each file that was named, and that the check of `target` did not read."""
    if target.file is not None:
        return []
    named = sorted(path for path in target.shown or () if path not in read and not path.is_dir())
    return [CheckTarget(root=target.root, file=path) for path in named]


def rebased(found: Diagnostic, root: Path, base: Path) -> Diagnostic:
    """Return a finding whose paths are relative to `base` where they lie inside it, else absolute."""

    def moved(span: Span) -> Span:
        path = _normal(file_at(root, span.file))
        return attrs.evolve(
            span, file=path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()
        )

    fix = found.fix
    return attrs.evolve(
        found,
        span=None if found.span is None else moved(found.span),
        related=tuple(attrs.evolve(label, span=moved(label.span)) for label in found.related),
        fix=None
        if fix is None
        else attrs.evolve(fix, edits=tuple(attrs.evolve(edit, span=moved(edit.span)) for edit in fix.edits)),
    )


def _for_path(path: Path, cwd: Path, workspace: Path | None, kind: str | None) -> list[CheckTarget]:
    is_file = not path.is_dir()
    root = _normal(workspace) if workspace is not None else find_workspace(path.parent if is_file else path)
    base = cwd if path.is_relative_to(cwd) else path.parent if is_file else path
    if is_file and kind is not None:
        return [CheckTarget(root=root or base, file=path, kind=kind)]
    if root is not None and (root / WORKSPACE_FILE).exists():
        return [CheckTarget(root=root, shown=None if path == root else frozenset({path}))]
    from octoc.compiler.checkup.scan import enclosing_tap  # a workspace needs none of it

    tap = enclosing_tap(path)
    if tap is not None:
        base = cwd if tap.is_relative_to(cwd) else tap
        return [CheckTarget(root=base, folder=tap, shown=frozenset({path}))]
    return [CheckTarget(root=base, file=path)] if is_file else [CheckTarget(root=base, folder=path)]


def _both(one: frozenset[Path] | None, other: frozenset[Path] | None) -> frozenset[Path] | None:
    return None if one is None or other is None else one | other


def _normal(path: Path) -> Path:
    # Links are not followed: a finding is shown under the name that was asked for.
    return Path(os.path.normpath(path.absolute()))
