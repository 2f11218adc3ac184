"""`Edit`: exact, atomic, and never over another's change."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Tools = Callable[..., str]


def _names(folder: Path) -> list[str]:
    return [one.name for one in folder.iterdir()]


@pytest.mark.parametrize(
    "content, old, new, expected",
    [
        ("one two\n", "two", "2", "one 2\n"),
        ("a\r\nb\r\n", "a\nb", "c\nd", "c\r\nd\r\n"),
        ("a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n"),
        ("a\r\nb\n", "b", "b\nc", "a\r\nb\nc\n"),
        ("\ufeffa\n", "a", "ü", "\ufeffü\n"),
        ("a\\1b", "\\1", "\\g<0>", "a\\g<0>b"),
        ("delete me, please", "delete me, ", "", "please"),
    ],
)
def test_what_is_replaced(tools: Tools, root: Path, content: str, old: str, new: str, expected: str) -> None:
    """The only occurrence is replaced; line ends, byte order mark and all other bytes stay."""
    (root / "a.txt").write_bytes(content.encode())
    assert tools("Edit", file_path="a.txt", old_string=old, new_string=new) == "Successfully edited a.txt"
    assert (root / "a.txt").read_bytes().decode() == expected


@pytest.mark.parametrize(
    "content, old, error",
    [
        (b"one", "two", "Error: old_string not found in a.txt"),
        (b"a b a", "a", "Error: old_string found 2 times — provide more context to make it unique"),
        (b"aaa", "aa", "Error: old_string found 2 times — provide more context to make it unique"),
        (b"one", "", "Error editing a.txt: old_string is empty"),
        (b"\xff one", "one", "Error editing a.txt: the file is not UTF-8 text"),
    ],
)
def test_what_is_refused(tools: Tools, root: Path, content: bytes, old: str, error: str) -> None:
    """An edit that is not exact is refused, and the file stays as it was."""
    (root / "a.txt").write_bytes(content)
    assert tools("Edit", file_path="a.txt", old_string=old, new_string="x") == f"! {error}"
    assert ((root / "a.txt").read_bytes(), _names(root)) == (content, ["a.txt"])


def test_mode_stays(tools: Tools, root: Path) -> None:
    """The mode of a file stays, and a read-only file is not replaced."""
    file = root / "run.sh"
    file.write_text("echo one\n")
    file.chmod(0o751)
    tools("Edit", file_path="run.sh", old_string="one", new_string="two")
    assert stat.S_IMODE(file.stat().st_mode) == 0o751
    file.chmod(0o444)
    tools("Read", file_path="run.sh")
    text = tools("Edit", file_path="run.sh", old_string="two", new_string="one")
    assert (text, file.read_text()) == ("! Error editing run.sh: the file is read-only", "echo two\n")


def test_hard_links(tools: Tools, make_tools: Callable[..., Tools], root: Path, tmp_path: Path) -> None:
    """A file with a second name is refused; where the workspace allows it, the other name keeps its content."""
    (tmp_path / "other.txt").write_text("one")
    (root / "a.txt").hardlink_to(tmp_path / "other.txt")
    assert "several names (hard links)" in tools("Edit", file_path="a.txt", old_string="one", new_string="two")
    allowed = make_tools(hard_links=True)
    assert allowed("Edit", file_path="a.txt", old_string="one", new_string="two") == "Successfully edited a.txt"
    assert ((root / "a.txt").read_text(), (tmp_path / "other.txt").read_text()) == ("two", "one")


def test_a_change_since_the_file_was_read(tools: Tools, root: Path) -> None:
    """A conversation that read a file does not edit it after another change before it reads it again."""
    (root / "a.txt").write_text("one\n")
    tools("Read", file_path="a.txt")
    assert tools("Edit", file_path="a.txt", old_string="one", new_string="two") == "Successfully edited a.txt"
    assert tools("Edit", file_path="a.txt", old_string="two", new_string="three") == "Successfully edited a.txt"
    (root / "a.txt").write_text("three, and more\n")
    refused = tools("Edit", file_path="./a.txt", old_string="three", new_string="four")
    assert refused == "! Error editing ./a.txt: the file changed since it was read; read it again"
    tools("Read", file_path="a.txt")
    assert tools("Edit", file_path="a.txt", old_string="three", new_string="four") == "Successfully edited a.txt"
    assert (root / "a.txt").read_text() == "four, and more\n"


@pytest.mark.parametrize("change", ["write", "replace", "remove", "link"])
def test_a_change_while_the_file_is_edited(
    tools: Tools, root: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """What another program does to the file during an edit stays: the edit is refused and leaves no file behind."""
    file = root / "a.txt"
    file.write_text("one\n")
    (root / "b.txt").write_text("another\n")
    sync = os.fsync

    def changed(fd: int) -> None:
        monkeypatch.setattr(os, "fsync", sync)
        match change:
            case "write":
                file.write_text("another\n")
            case "replace":
                (root / "b.txt").rename(file)
            case "remove":
                file.unlink()
            case "link":
                file.unlink()
                file.symlink_to("b.txt")

    monkeypatch.setattr(os, "fsync", changed)
    text = tools("Edit", file_path="a.txt", old_string="one", new_string="two")
    assert text.startswith("! Error editing a.txt: the file ")
    assert not file.exists() if change == "remove" else file.read_text() == "another\n"
    assert not list(root.glob(".*"))


def test_edits_at_the_same_time(tools: Any, root: Path) -> None:
    """Each of several edits of one file at the same time is in the file or was refused; none is lost."""
    names = [f"w{number}." for number in range(20)]
    (root / "a.txt").write_text(" ".join(names))

    async def run() -> list[Any]:
        calls = (tools.call("Edit", file_path="a.txt", old_string=name, new_string=name.upper()) for name in names)
        return await asyncio.gather(*calls)

    outcomes = asyncio.run(run())
    words = (root / "a.txt").read_text().split()
    assert [word.startswith("W") for word in words] == [not outcome.is_error for outcome in outcomes]
    assert any(not outcome.is_error for outcome in outcomes)
    assert _names(root) == ["a.txt"]


def test_a_full_disk(tools: Tools, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails leaves the old file, and nothing beside it."""
    (root / "a.txt").write_text("one\n")

    def full(fd: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("octoc_tools_files.edit._write", full)
    text = tools("Edit", file_path="a.txt", old_string="one", new_string="two")
    assert text == "! Error editing a.txt: no space left on device"
    assert ((root / "a.txt").read_text(), _names(root)) == ("one\n", ["a.txt"])
