"""The tools for files of deep research agents: a folder of their own, whole files, and literal texts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc_tools_files.grep import ripgrep

Tools = Any
MakeTools = Callable[..., Any]


@pytest.fixture
def place(root: Path) -> Path:
    """The folder of deep research agents."""
    return root / ".octo" / "workspace"


def test_files(tools: Tools, place: Path) -> None:
    """A file is written with its folders, listed, read and edited; a path may begin with `/`."""
    assert tools("ls") == "No files found in /"
    assert tools("write_file", file_path="/notes/a.md", content="one\ntwo\ntwo\n") == "Updated file notes/a.md"
    assert (place / "notes" / "a.md").read_text() == "one\ntwo\ntwo\n"
    assert (place / "notes" / "a.md").stat().st_mode & 0o777 == 0o644
    assert tools("write_file", file_path="b.md", content="") == "Updated file b.md"
    assert tools("ls") == "b.md\nnotes/"
    assert tools("ls", path="/notes") == "a.md"
    assert tools("read_file", file_path="/notes/a.md", offset=1, limit=1) == "     2\ttwo"
    assert tools("read_file", file_path=str(place / "notes" / "a.md"), limit=1) == "     1\tone"
    edit = {"file_path": "/notes/a.md", "old_string": "two", "new_string": "2"}
    assert tools("edit_file", **edit).startswith("! Error: old_string found 2 times")
    assert tools("edit_file", **edit, replace_all=True) == "Successfully edited notes/a.md in 2 places"
    assert (place / "notes" / "a.md").read_text() == "one\n2\n2\n"
    assert tools("edit_file", **{**edit, "old_string": "2\n2"}, replace_all=True) == "Successfully edited notes/a.md"
    (place / "notes" / "a.md").chmod(0o600)
    tools("write_file", file_path="notes/a.md", content="new")
    assert (place / "notes" / "a.md").read_text() == "new"
    assert (place / "notes" / "a.md").stat().st_mode & 0o777 == 0o600
    assert sorted(one.name for one in place.rglob("*")) == ["a.md", "b.md", "notes"]


def test_100_lines(tools: Tools) -> None:
    """`read_file` returns 100 lines unless told."""
    tools("write_file", file_path="a", content="x\n" * 300)
    assert len(tools("read_file", file_path="a").splitlines()) == 100
    assert len(tools("read_file", file_path="a", limit=200).splitlines()) == 200


@pytest.mark.parametrize("by_ripgrep", [True, False])
def test_searches(tools: Tools, monkeypatch: pytest.MonkeyPatch, by_ripgrep: bool) -> None:
    """`grep` finds a text as it stands and shows paths, lines or numbers; `glob` finds names at any depth."""
    if by_ripgrep and ripgrep() is None:
        pytest.skip("no ripgrep")
    if not by_ripgrep:
        monkeypatch.setattr("octoc_tools_files.research.ripgrep", lambda: None)
    tools("write_file", file_path="a.md", content="f(x) = [a-z]+\\d\nfx\nf(x) again\n")
    tools("write_file", file_path="deep/b.md", content="f(x)\n")
    tools("write_file", file_path="deep/c.txt", content="$^{}|.*?")
    assert tools("grep", pattern="f(x)") == "a.md\ndeep/b.md"
    assert tools("grep", pattern="f(x)", output_mode="count") == "a.md: 2\ndeep/b.md: 1"
    assert tools("grep", pattern="f(x)", output_mode="content", path="/deep") == "deep/b.md:\n  1: f(x)"
    assert tools("grep", pattern="[a-z]+\\d") == "a.md"
    assert tools("grep", pattern="$^{}|.*?", glob="*.txt") == "deep/c.txt"
    assert tools("grep", pattern="f.x") == "No matches found for 'f.x'"
    assert tools("glob", pattern="*.md") == "a.md\ndeep/b.md"
    assert tools("glob", pattern="/*.md") == "a.md"
    assert tools("glob", pattern="*", path="/deep") == "deep/b.md\ndeep/c.txt"


def test_no_way_out(tools: Tools, root: Path, place: Path) -> None:
    """What is beside the folder is neither read, nor listed, nor written, by any tool and any form of a path."""
    place.mkdir(parents=True)
    (root / "secret.txt").write_text("rhubarb\n")
    (place / "link").symlink_to(root)
    (place / "secret.txt").symlink_to(root / "secret.txt")
    (place / "hard.txt").hardlink_to(root / "secret.txt")
    (place / "loop").symlink_to(place)
    os.mkfifo(place / "pipe")
    ways = ["../../secret.txt", "/../../secret.txt", "link/secret.txt", "/link/secret.txt", "secret.txt", "hard.txt"]
    ways += [f"{root}/secret.txt", f"{place}/../../secret.txt", "//secret.txt", "loop/secret.txt", "pipe", "link"]
    for path in ways:
        texts = [
            tools("read_file", file_path=path),
            tools("edit_file", file_path=path, old_string="rhubarb", new_string="apple"),
            tools("ls", path=path),
            tools("grep", pattern="rhubarb", path=path),
        ]
        assert [text for text in texts if not text.startswith("! Error")] == [], path
        assert "rhubarb" not in "".join(texts)
    for path in (*ways, "link/new.txt", "../new.txt", "loop/new.txt", "pipe/new.txt", ".", "/"):
        text = tools("write_file", file_path=path, content="apple")
        assert text.startswith("! Error") or path == f"{root}/secret.txt", path
    assert tools("grep", pattern="rhubarb") == "No matches found for 'rhubarb'"
    assert (root / "secret.txt").read_text() == "rhubarb\n"
    assert sorted(one.name for one in root.iterdir()) == [".octo", "secret.txt"]
    assert sorted(one.name for one in (root / ".octo").iterdir()) == ["workspace"]


@pytest.mark.parametrize(
    "content, problem",
    [("x" * (16 * 1024 * 1024 + 1), "the content has more than 16777216 bytes"), ("\ud800", "half a surrogate pair")],
)
def test_what_cannot_be_written(tools: Tools, content: str, problem: str) -> None:
    """A content that is too long, or no text, is refused, and the file stays."""
    tools("write_file", file_path="a", content="stays")
    text = tools("write_file", file_path="a", content=content)
    assert text.startswith("! Error writing a: ")
    assert problem in text
    assert tools("read_file", file_path="a") == "     1\tstays"


def test_a_race(tools: Tools, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that changes while it is written stays as the other program wrote it, and nothing else is left."""
    tools("write_file", file_path="a", content="old")
    fsync = os.fsync

    def change(fd: int) -> None:
        (place / "a").write_text("of another program")
        fsync(fd)

    monkeypatch.setattr(os, "fsync", change)
    assert "the file changed meanwhile" in tools("write_file", file_path="a", content="new")
    assert {one.name: one.read_text() for one in place.iterdir()} == {"a": "of another program"}


def test_another_folder(make_tools: MakeTools, root: Path) -> None:
    """`research` names the folder, which no build makes."""
    tools = make_tools(research="papers")
    assert list(root.iterdir()) == []
    tools("write_file", file_path="a", content="x")
    assert (root / "papers" / "a").read_text() == "x"
