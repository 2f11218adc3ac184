"""The files that git has as changed since a revision, for `octoc check --since`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import attrs

from octoc.compiler.checkup.paths import CheckedPaths
from octoc.diagnostics.model import Diagnostic, Span

_SECONDS = 60
# A repository's own settings may name programs that git runs: none is needed to list names.
_GIT = ("-c", "core.fsmonitor=false", "--no-optional-locks")


class RevisionError(Exception):
    """Git cannot tell what has changed: no repository, an unknown revision, or no git."""


def changed_files(folder: Path, revision: str) -> frozenset[Path]:
    """Return the files, absolute, that differ from where `revision` and HEAD part; new and untracked ones, too.

    Deleted files are not among them. Raises: RevisionError.
    """
    git = shutil.which("git")
    if git is None:
        raise RevisionError("git is not installed")

    def run(*arguments: str) -> str | None:
        try:
            done = subprocess.run(  # git, without a shell
                [git, *_GIT, *arguments], cwd=folder, capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RevisionError(f"git failed: {error}") from error
        return os.fsdecode(done.stdout) if done.returncode == 0 else None

    top = run("rev-parse", "--show-toplevel")
    if top is None:
        raise RevisionError(f"`{folder}` is not in a git repository")
    commit = run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise RevisionError(f"git knows no revision `{revision}`")
    # As a pull request shows it: what main got meanwhile is not this branch's change.
    start = run("merge-base", commit.strip(), "HEAD") or commit
    root = Path(top.rstrip("\n"))
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
