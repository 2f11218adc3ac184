"""A git repository that holds a tap, as another team would publish it."""

import os
import subprocess
from pathlib import Path

import attrs
import pytest

AUTHOR = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.invalid",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.invalid",
}
SKILL = """\
---
name: minutes
description: How to write the minutes of a meeting
domains: office
rules:
  - content(minutes)
---

Write the minutes in past tense.
"""


@attrs.frozen
class PublishedTap:
    """A repository with one skill, `minutes`. Each method returns the commit."""

    folder: Path

    def git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self.folder), "-c", "protocol.file.allow=always", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **AUTHOR})
        return done.stdout.strip()

    def commit(self, path: str = "skills/minutes/SKILL.md", text: str = SKILL) -> str:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return self.commit_all()

    def commit_all(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change")
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def published(tmp_path: Path) -> PublishedTap:
    """A repository with one commit on its branch `main`."""
    folder = tmp_path / "published"
    folder.mkdir()
    tap = PublishedTap(folder)
    tap.git("init", "--quiet", "--initial-branch=main")
    tap.commit()
    return tap


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of fetched taps, empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "octoc" / "taps"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace with the published tap, by a relative address."""
    root = tmp_path / "work"
    root.mkdir()
    write_workspace(root)
    return root


def write_workspace(root: Path, tap: str = 'git = "../published"') -> None:
    """Write an octoc.toml whose only tap, `acme`, has the keys `tap`."""
    (root / "octoc.toml").write_text(f'[workspace]\nname = "work"\n\n[[taps]]\nname = "acme"\n{tap}\n')
