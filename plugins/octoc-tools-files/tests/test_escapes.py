"""No path leads out of the folder: 200 generated escapes, and what changes between the check and the use."""

from __future__ import annotations

import os
import random
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Tools = Callable[..., str]
SECRET = "the word outside is rhubarb"
ESCAPES = 200


@pytest.fixture
def tree(root: Path) -> Path:
    """Make a folder with every way out of it that a file system has; return the folder beside it."""
    outside = root.parent / "outside"
    (outside / "deep").mkdir(parents=True)
    for file in (outside / "secret.txt", outside / "deep" / "secret.txt"):
        file.write_text(f"{SECRET}\n")
    for folder in (root, root / "a", root / "a" / "b"):
        folder.mkdir(exist_ok=True)
        (folder / "inside.txt").write_text("inside\n")
        (folder / "up").symlink_to("..")
        (folder / "out").symlink_to(outside)
        (folder / "relative").symlink_to(os.path.relpath(outside, folder))
        (folder / "top").symlink_to("/")
        (folder / "self").symlink_to("/proc/self/root")
        (folder / "chain").symlink_to("out")
        (folder / "secret.txt").symlink_to(outside / "secret.txt")
        (folder / "second.txt").symlink_to("secret.txt")
        (folder / "zero").symlink_to("/dev/zero")
        (folder / "hard.txt").hardlink_to(outside / "secret.txt")
        os.mkfifo(folder / "pipe")
    return outside


def _escapes(root: Path, outside: Path) -> Iterator[str]:
    """Yield paths that lead out of `root`, or to anything except its files, each once."""
    seen = set()
    steps = ["..", ".", "", "a", "b", "up", "out", "relative", "top", "self", "chain", "deep"]
    ends = ["secret.txt", "second.txt", "hard.txt", "zero", "pipe", "out/secret.txt", "chain/deep/secret.txt"]
    ends += [
        f"top{outside}/secret.txt",
        f"self{outside}/secret.txt",
        "../outside/secret.txt",
        "up/../outside/secret.txt",
    ]
    starts = ["", "", "./", f"{root}/", f"{root}/../", f"{outside}/", f"//{root}/", "/proc/self/cwd/", f"{root}/a/../"]
    for seed in range(100_000):
        chosen = random.Random(seed)
        inner = [chosen.choice(steps) for _ in range(chosen.randrange(5))]
        path = chosen.choice(starts) + "/".join([*inner, chosen.choice(ends)])
        if path in seen or not _leads_out(path, root):
            continue
        seen.add(path)
        yield path
        if len(seen) == ESCAPES:
            return


def _leads_out(path: str, root: Path) -> bool:
    """Tell, by what the system opens, whether a path leads to anything but the plain files of `root`."""
    whole = root / path
    if not whole.exists():
        return False
    is_special = not whole.is_file() or whole.stat().st_nlink > 1
    return is_special or not whole.resolve().is_relative_to(root)


def test_generated_escapes(tools: Tools, root: Path, tree: Path) -> None:
    """No tool reads, finds, lists or changes anything by 200 paths that lead out of the folder; each says why."""
    paths = list(_escapes(root, tree))
    assert len(paths) == ESCAPES
    for path in paths:
        calls = [
            tools("Read", file_path=path),
            tools("Edit", file_path=path, old_string="outside", new_string="inside"),
            tools("Grep", pattern="rhubarb|root", path=path),
            tools("Glob", pattern="*", path=path),
            tools("Glob", pattern="*", path=path.rpartition("/")[0] or path),
        ]
        assert _not_refused(calls[:4]) == [], path
        assert "rhubarb" not in "".join(calls)
        assert not any(line.endswith("/deep") for line in calls[4].splitlines())
    _assert_untouched(root, tree)


def test_generated_escapes_of_research(make_tools: Callable[..., Tools], root: Path, tree: Path) -> None:
    """The tools of deep research agents do not leave their folder by the same paths, also with `/` before them."""
    tools = make_tools(research=".")
    for number, escape in enumerate(_escapes(root, tree)):
        # For these tools `/` is their folder, so a path that is absolute elsewhere leads to nothing in it.
        path = f"/{escape}" if number % 2 else escape
        calls = [
            tools("read_file", file_path=path),
            tools("edit_file", file_path=path, old_string="outside", new_string="inside", replace_all=True),
            tools("ls", path=path),
            tools("grep", pattern="rhubarb", path=path, output_mode="content"),
            tools("glob", pattern="*", path=path),
            tools("glob", pattern="*.txt", path=path.rpartition("/")[0] or path),
        ]
        assert _not_refused(calls[:5]) == [], path
        assert "rhubarb" not in "".join(calls)
        if not tools("write_file", file_path=path, content="new").startswith("! Error"):
            assert escape.startswith("/"), path
            made = root / path.lstrip("/").split("/")[0]
            assert [file.read_text() for file in made.rglob("*") if file.is_file()] == ["new"]
            shutil.rmtree(made)
    _assert_untouched(root, tree)


def _not_refused(texts: list[str]) -> list[str]:
    return [text for text in texts if not text.startswith("! Error") or len(text.splitlines()) > 1]


def _assert_untouched(root: Path, outside: Path) -> None:
    assert {file.read_text() for file in outside.rglob("*.txt")} == {f"{SECRET}\n"}
    assert sorted(outside.parent.iterdir()) == [outside, root]
    assert not list(outside.parent.rglob(".octoc-*"))


def test_a_search_of_the_whole_folder_stays_in_it(tools: Tools, tree: Path) -> None:
    """`Grep` and `Glob` of the folder itself follow no link, and read no pipe."""
    assert tools("Grep", pattern="inside|rhubarb").splitlines() == [
        "a/b/inside.txt:1:> inside",
        "a/inside.txt:1:> inside",
        "inside.txt:1:> inside",
    ]
    assert "deep" not in tools("Glob", pattern="**")


@pytest.mark.parametrize(
    "path", ["~/x", "a\0b", "", "\ud800", "x" * 5000, "%2e%2e/outside/secret.txt", "..\\outside", "…"]
)
def test_odd_paths(tools: Tools, tree: Path, path: str) -> None:
    """A path that no file has is answered in words, whatever it is."""
    assert tools("Read", file_path=path).startswith("! Error")
    assert tools("Edit", file_path=path, old_string="a", new_string="b").startswith("! Error")


def _swapping(what: Callable[..., Any], name: str, swap: Callable[[], None]) -> Callable[..., Any]:
    """Return a function of `os` that swaps something once, before the call that gets `name`."""
    done: list[str] = []

    def swapped(path: Any, *arguments: Any, **named: Any) -> Any:
        if path == name and not done:
            done.append(name)
            swap()
        return what(path, *arguments, **named)

    return swapped


@pytest.mark.parametrize("function", ["stat", "open"])
def test_a_folder_becomes_a_link(
    tools: Tools, root: Path, tree: Path, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    """A folder that is replaced by a link, after it was opened, is still the folder."""
    (root / "d").mkdir()
    (root / "d" / "word.txt").write_text("inside\n")
    (tree / "word.txt").write_text(SECRET)

    def swap() -> None:
        (root / "d").rename(root / "moved")
        (root / "d").symlink_to(tree)

    monkeypatch.setattr(os, function, _swapping(getattr(os, function), "word.txt", swap))
    assert tools("Read", file_path="d/word.txt") == "     1\tinside"


def test_a_file_becomes_a_link(tools: Tools, root: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is replaced by a link, after it was looked at, is not followed."""
    (root / "word.txt").write_text("inside\n")

    def swap() -> None:
        (root / "word.txt").unlink()
        (root / "word.txt").symlink_to(tree / "deep" / "secret.txt")

    monkeypatch.setattr(os, "open", _swapping(os.open, "word.txt", swap))
    assert tools("Read", file_path="word.txt").startswith("! Error reading word.txt: ")


def test_a_folder_that_changes_all_the_time(tools: Tools, root: Path, tree: Path) -> None:
    """While another thread exchanges a folder and a link, no call reads or searches what the link leads to."""
    (root / "d").mkdir()
    (root / "d" / "secret.txt").write_text("inside\n")
    stop = threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            (root / "d").rename(root / "moved")
            (root / "d").symlink_to(tree)
            (root / "d").unlink()
            (root / "moved").rename(root / "d")

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        texts = {tools("Read", file_path="d/secret.txt") for _ in range(200)}
        texts |= {tools("Grep", pattern="rhubarb", path="d") for _ in range(50)}
    finally:
        stop.set()
        thread.join()
    assert not [text for text in texts if SECRET in text]
