"""The files that git has as changed since a revision, for `octoc check --since`."""

from __future__ import annotations

import os
from pathlib import Path

import attrs

from octoc.compiler.checkup.paths import CheckedPaths
from octoc.compiler.workspace.git import Repository, RevisionError
from octoc.diagnostics.model import Diagnostic, Span


def changed_files(folder: Path, revision: str) -> frozenset[Path]:
    """Return the files, absolute, that differ from where `revision` and HEAD part; new and untracked ones, too.

    Deleted files are not among them. Raises: RevisionError.
    """
    repository = Repository(folder)
    run, root = repository.run, repository.top
    commit = repository.commit(revision)
    # As a pull request shows it: what main got meanwhile is not this branch's change.
    start = run("merge-base", commit, "HEAD") or commit
    changed = run("-C", os.fspath(root), "diff", "--name-only", "-z", "--no-ext-diff", "--diff-filter=d", start.strip())
    untracked = run("-C", os.fspath(root), "ls-files", "-z", "--others", "--exclude-standard")
    if changed is None or untracked is None:
        raise RevisionError(f"git cannot compare the files with `{revision}`")
    # The folder may be named by a link: findings have the name that the user gave.
    inside = os.path.relpath(os.path.realpath(folder), root)
    shown_root = Path(os.path.normpath(folder / os.path.relpath(".", inside)))
    return frozenset(shown_root / name for name in (changed + untracked).split("\0") if name)


def only_changed(checked: CheckedPaths, changed: frozenset[Path]) -> CheckedPaths:
    """Return the findings of `checked` in changed files; those that have a second place there, or no place, stay."""

    def is_in(span: Span) -> bool:
        return Path(os.path.normpath(checked.base / span.file)) in changed

    def concerns(found: Diagnostic) -> bool:
        return found.span is None or is_in(found.span) or any(is_in(label.span) for label in found.related)

    parts = tuple(
        (attrs.evolve(target, shown=frozenset(path for path in changed if target.covers(path))), outcome)
        for target, outcome in checked.parts
    )
    return attrs.evolve(checked, diagnostics=tuple(filter(concerns, checked.diagnostics)), parts=parts)
