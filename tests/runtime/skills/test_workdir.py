"""The folder that rules look at may be anything: what is in it costs a bounded amount, and leads nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.gitignore import is_ignored, parse_gitignore
from octoc.runtime.skills import workdir
from octoc.runtime.skills.workdir import Workdir


def _ticking() -> Callable[[], float]:
    ticks: Iterator[int] = iter(range(10**9))
    return lambda: float(next(ticks))


def test_special_files_are_not_opened(tmp_path: Path) -> None:
    """A pipe without a writer, a link, a device and a socket are not opened."""
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "zero.txt").symlink_to("/dev/zero")
    (tmp_path / "hosts.txt").symlink_to("/etc/hosts")
    folder = Workdir(str(tmp_path))
    assert not folder.contains(re.compile("."), None)
    assert folder.complete
    assert not folder.has("hosts.txt")
    assert folder.has("pipe.txt")


def test_what_is_no_text(tmp_path: Path) -> None:
    """A file that is not UTF-8, a large one and one that may not be read are passed over."""
    (tmp_path / "binary").write_bytes(b"needle\xff\xfe")
    (tmp_path / "large").write_bytes(b"needle" + b"x" * workdir.MAX_FILE_BYTES)
    (tmp_path / "closed").write_text("needle", encoding="utf-8")
    (tmp_path / "closed").chmod(0)
    allowed = os.access(tmp_path / "closed", os.R_OK)  # as root may
    assert Workdir(str(tmp_path)).contains(re.compile("needle"), None) is allowed
    (tmp_path / "plain").write_text("needle", encoding="utf-8")
    assert Workdir(str(tmp_path)).contains(re.compile("needle"), None)


def test_loops(tmp_path: Path) -> None:
    """Links in circles end a search without a limit."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/back").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    folder = Workdir(str(tmp_path))
    assert not folder.has("**/nothing")
    assert not folder.has("self")
    assert not folder.contains(re.compile("x"), None)
    assert folder.complete


def test_time_is_limited(tmp_path: Path) -> None:
    """A search that takes too long ends, says so, and counts as without a hit."""
    for index in range(50):
        (tmp_path / f"{index}.txt").write_text("x", encoding="utf-8")
    folder = Workdir(str(tmp_path), seconds=20, clock=_ticking())
    assert not folder.contains(re.compile("needle"), None)
    assert not folder.complete


@pytest.mark.parametrize("name, limit", [("MAX_ENTRIES", 5), ("MAX_BYTES", 10)])
def test_entries_and_bytes_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int) -> None:
    """So does one that looks at too many entries or reads too much."""
    monkeypatch.setattr(workdir, name, limit)
    for index in range(20):
        (tmp_path / f"{index:02}.txt").write_text("abcdef", encoding="utf-8")
    (tmp_path / "z").mkdir()
    (tmp_path / "z/needle").write_text("needle", encoding="utf-8")
    folder = Workdir(str(tmp_path))
    assert not folder.contains(re.compile("needle"), None)
    assert not folder.complete


def test_depth_is_limited(tmp_path: Path) -> None:
    """Folders in folders are followed to a depth, by either search."""
    deep = tmp_path.joinpath(*["d"] * (workdir.MAX_DEPTH + 5))
    deep.mkdir(parents=True)
    (deep / "needle").write_text("needle", encoding="utf-8")
    folder = Workdir(str(tmp_path))
    assert not folder.has("**/needle")
    assert not folder.contains(re.compile("needle"), None)


@pytest.mark.parametrize("root", ["/no/such/folder", "/etc/hosts", "a\0b"])
def test_no_folder(root: str) -> None:
    """A path that is missing or not a folder matches nothing."""
    folder = Workdir(root)
    assert not folder.has("x")
    assert not folder.has("*")
    assert not folder.contains(re.compile("."), None)


@pytest.mark.parametrize(
    "lines, path, is_dir, ignored",
    [
        ("*.log", "a/b.log", False, True),
        ("*.log\n!b.log", "a/b.log", False, False),
        ("/a", "a", True, True),
        ("/a", "b/a", True, False),
        ("a/b", "x/a/b", False, False),
        ("**/a/b", "x/a/b", False, True),
        ("a/**", "a/b/c", False, True),
        ("a/**/c", "a/c", False, True),
        ("dir/", "dir", False, False),
        ("dir/", "x/dir", True, True),
        ("[ab].txt", "a.txt", False, True),
        ("[!ab].txt", "a.txt", False, False),
        ("a?c", "abc", False, True),
        ("# a\n\n  \n/\n!", "a", False, False),
        (r"\#a", "#a", False, True),
        ("[", "[", False, True),
    ],
)
def test_gitignore(lines: str, path: str, is_dir: bool, ignored: bool) -> None:
    """The patterns mean what git says that they mean."""
    assert is_ignored([("", parse_gitignore(lines))], path, is_dir=is_dir) is ignored


def test_a_deeper_gitignore_decides() -> None:
    """The last line that speaks of a path counts, from the outermost file to the innermost."""
    levels = [("", parse_gitignore("*.txt")), ("a", parse_gitignore("!b.txt"))]
    assert not is_ignored(levels, "a/b.txt", is_dir=False)
    assert is_ignored(levels, "a/c.txt", is_dir=False)


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_gitignore(lines: str, path: str) -> None:
    """Whatever stands in the file, asking it gives an answer."""
    assert is_ignored([("", parse_gitignore(lines))], path, is_dir=False) in (True, False)
