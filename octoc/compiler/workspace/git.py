"""Reads a git repository: names, revisions and files, without running programs that the repository names."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

_SECONDS = 60
# A repository's own settings may name programs that git runs: reading needs none.
_GIT = ("-c", "core.fsmonitor=false", "--no-optional-locks")


class RevisionError(Exception):
    """Git cannot read what was asked: no repository, an unknown revision, or no git."""


class Repository:
    """The git repository that a folder is in. Raises: RevisionError."""

    def __init__(self, folder: Path) -> None:
        git = shutil.which("git")
        if git is None:
            raise RevisionError("git is not installed")
        self._git = git
        self._folder = folder
        top = self.run("rev-parse", "--show-toplevel")
        if top is None:
            raise RevisionError(f"`{folder}` is not in a git repository")
        self.top = Path(top.rstrip("\n"))

    def data(self, *arguments: str) -> bytes | None:
        """Return what git prints, or None if it fails. Raises: RevisionError when it cannot run."""
        try:
            done = subprocess.run(  # git, without a shell
                [self._git, *_GIT, *arguments], cwd=self._folder, capture_output=True, timeout=_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RevisionError(f"git failed: {error}") from error
        return done.stdout if done.returncode == 0 else None

    def run(self, *arguments: str) -> str | None:
        """Return what git prints as text, or None if it fails. Raises: RevisionError when it cannot run."""
        data = self.data(*arguments)
        return None if data is None else os.fsdecode(data)

    def commit(self, revision: str) -> str:
        """Return the commit that a revision names. Raises: RevisionError."""
        commit = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if commit is None:
            raise RevisionError(f"git knows no revision `{revision}`")
        return commit.strip()

    def files(self, commit: str, folder: str) -> dict[str, str]:
        """Return the files in a folder of the working folder at a commit: name -> object. Raises: RevisionError."""
        listed = self.run("ls-tree", "-z", commit, "--", f"{folder}/") or ""
        found = {}
        for entry in filter(None, listed.split("\0")):
            about, _, path = entry.partition("\t")
            _mode, kind, name = about.split(" ")
            if kind == "blob":
                found[path.rpartition("/")[2]] = name
        return found

    def blob(self, name: str) -> bytes | None:
        """Return the bytes of an object as they are stored: no filter or conversion runs. Raises: RevisionError."""
        return self.data("cat-file", "blob", name)
