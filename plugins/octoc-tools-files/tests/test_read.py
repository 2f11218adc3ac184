"""`Read`: ranges, caps and long files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

Tools = Callable[..., str]
GIB = 1024**3


def test_lines_and_numbers(tools: Tools, root: Path) -> None:
    """Lines have their numbers, from `offset` on and at most `limit`; line ends do not show."""
    (root / "a.txt").write_bytes("one\r\ntwo\nthrée\n\nfive".encode())
    assert tools("Read", file_path="a.txt") == "     1\tone\n     2\ttwo\n     3\tthrée\n     4\t\n     5\tfive"
    assert tools("Read", file_path="./a.txt", offset=1, limit=2) == "     2\ttwo\n     3\tthrée"
    assert tools("Read", file_path=str(root / "a.txt"), offset=4) == "     5\tfive"
    assert tools("Read", file_path="a.txt", offset=9) == "(no lines from 9 on)"
    assert tools("Read", file_path="b.txt") == "! Error: File not found: b.txt"


def test_caps(tools: Tools, root: Path) -> None:
    """A result has at most 2,000 lines and 50,000 characters, and Octo's notice where that is less than was asked."""
    (root / "long.txt").write_text("".join(f"{number}\n" for number in range(5000)))
    text = tools("Read", file_path="long.txt")
    assert (text.splitlines()[1999], text[-16:]) == ("  2000\t1999", "\n... (truncated)")
    assert len(tools("Read", file_path="long.txt", limit=5000).splitlines()) == 2001
    assert tools("Read", file_path="long.txt", limit=3) == "     1\t0\n     2\t1\n     3\t2"
    (root / "wide.txt").write_text("é" * 60_000)
    wide = tools("Read", file_path="wide.txt")
    assert wide == "     1\t" + "é" * (50_000 - 7) + "\n... (truncated)"


def test_bytes_that_are_no_text(tools: Tools, root: Path) -> None:
    """Bytes that are not UTF-8 are replaced, as Octo does."""
    (root / "a.bin").write_bytes(b"\xff\xfe one\n")
    assert tools("Read", file_path="a.bin") == "     1\t\ufffd\ufffd one"


@pytest.mark.parametrize("offset", [0, 2])
def test_a_file_of_one_gigabyte(tools: Tools, root: Path, monkeypatch: pytest.MonkeyPatch, offset: int) -> None:
    """A file of 1 GiB is read in parts, and only as many as the lines need."""
    with (root / "big.log").open("wb") as file:
        file.write(b"first\nsecond\nthird\n")
        file.truncate(GIB)
    read, sizes = os.read, []

    def counted(fd: int, size: int) -> bytes:
        sizes.append(size)
        return read(fd, size)

    monkeypatch.setattr(os, "read", counted)
    text = tools("Read", file_path="big.log", offset=offset, limit=1)
    assert text == f"     {offset + 1}\t{'third' if offset else 'first'}"
    assert len(tools("Read", file_path="big.log")) == 50_000 + len("\n... (truncated)")
    refused = "! Error editing big.log: the file has more than 16777216 bytes"
    assert tools("Edit", file_path="big.log", old_string="first", new_string="1st") == refused
    assert tools("Grep", pattern="first", path="big.log") == "! Error reading big.log: not a text"
    assert tools("Grep", pattern="first") == "No matches for 'first' in ."
    assert sum(sizes) < 4 * 1024 * 1024


def test_special_files(tools: Tools, root: Path) -> None:
    """A pipe, a folder and a link are named as what they are; nothing is opened that could block."""
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    (root / "link").symlink_to("folder")
    assert {name: tools("Read", file_path=name) for name in ("pipe", "folder", "link", "link/x")} == {
        "pipe": "! Error reading pipe: a pipe",
        "folder": "! Error reading folder: a folder",
        "link": "! Error reading link: a link, and links are not followed",
        "link/x": "! Error reading link/x: `link` is a link, and links are not followed",
    }
