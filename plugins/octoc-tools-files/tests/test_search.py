"""`Grep`, by ripgrep and by google-re2, and `Glob`."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc_tools_files.grep import ripgrep, search_files
from octoc_tools_files.root import Root
from octoc_tools_files.walk import StoppedError

Tools = Callable[..., str]


@pytest.fixture(params=["ripgrep", "re2"])
def _engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "re2":
        monkeypatch.setattr("octoc_tools_files.tools.ripgrep", lambda: None)
    elif ripgrep() is None:
        pytest.skip("the package `ripgrep` is not installed")


@pytest.fixture
def files(root: Path) -> Path:
    """Make some files."""
    for path, text in {
        "a.py": "import os\n\nprint('one')\nprint('two')\n\nx = 1\ny = 2\nprint('three')\n",
        "b.txt": "one\r\nprint it\r\n",
        "src/deep/c.py": "def one():\n    pass",
        ".hidden.py": "one\n",
        ".git/config": "one\n",
        "node_modules/x/index.js": "one\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    (root / "d.bin").write_bytes(b"one\0one\n")
    return root


@pytest.mark.usefixtures("_engine", "files")
class TestGrep:
    def test_matches(self, tools: Tools) -> None:
        """Each match has its path, its number and `>`; hidden folders and binary files are left out."""
        assert tools("Grep", pattern="one").splitlines() == [
            ".hidden.py:1:> one",
            "a.py:3:> print('one')",
            "b.txt:1:> one",
            "src/deep/c.py:1:> def one():",
        ]
        assert tools("Grep", pattern="one$", path="src", glob="*.py") == "No matches for 'one$' in src"
        assert tools("Grep", pattern=r"^def \w+\(", include="c.*") == "src/deep/c.py:1:> def one():"
        assert tools("Grep", pattern="it", path="./b.txt") == "b.txt:2:> print it"

    def test_context(self, tools: Tools) -> None:
        """Lines around matches are there once; an empty line is between parts that are not next to each other."""
        assert tools("Grep", pattern="print", path="a.py", context=1).split("\n") == [
            "a.py:2:  ", "a.py:3:> print('one')", "a.py:4:> print('two')", "a.py:5:  ",
            "",
            "a.py:7:  y = 2", "a.py:8:> print('three')",
            "",
        ]  # fmt: skip

    def test_limits(self, tools: Tools, root: Path) -> None:
        """A result has at most 200 lines and 50,000 characters."""
        (root / "many.log").write_text("needle\n" * 1000)
        assert len(tools("Grep", pattern="needle").splitlines()) == 200
        (root / "wide.log").write_text("pin" + "x" * 3_000_000 + "\n")
        wide = tools("Grep", pattern="pin")
        assert (len(wide), wide[-16:]) == (50_000 + 16, "\n... (truncated)")

    def test_expressions(self, tools: Tools, root: Path) -> None:
        """An unsound expression is refused in words; one that takes others forever takes linear time."""
        assert tools("Grep", pattern="a(").startswith("! Invalid regex: ")
        assert tools("Grep", pattern=r"(a)\1").startswith("! Invalid regex: ")
        (root / "slow.txt").write_text("a" * 50_000 + "!\n")
        assert tools("Grep", pattern=r"^(a|a)*(a+)+$", path="slow.txt").startswith("No matches for ")
        assert tools("Grep", pattern="-e", path="a.py") == "No matches for '-e' in a.py"

    def test_a_cancelled_search(self, root: Path, request: pytest.FixtureRequest) -> None:
        """A search ends when its caller has left."""
        stop = threading.Event()
        stop.set()
        program = None if "re2" in request.node.name else ripgrep()
        with pytest.raises(StoppedError):
            search_files(Root(str(root)), "one", ".", "", 0, stop, program=program)

    def test_a_search_that_takes_too_long(self, tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
        """A search that reaches the time limit says so, and shows no part of what there is."""

        def slow(*arguments: Any, **program: Any) -> str:
            arguments[-1].wait()
            return search_files(*arguments, **program)

        monkeypatch.setattr("octoc_tools_files.tools.search_files", slow)
        monkeypatch.setattr("octoc_tools_files.tools._SECONDS", 0.01)
        assert tools("Grep", pattern="one").startswith("! Error: Grep took longer than 0.01 s: ")

    def test_absent(self, tools: Tools) -> None:
        """A path that is not there is an error."""
        assert tools("Grep", pattern="one", path="nope") == "! Error reading nope: not found"


@pytest.mark.usefixtures("files")
class TestGlob:
    @pytest.mark.parametrize(
        "pattern, path, expected",
        [
            ("*.py", ".", ["a.py"]),
            ("**/*.py", ".", ["a.py", "src/deep/c.py"]),
            ("src/**", ".", ["src", "src/deep", "src/deep/c.py"]),
            ("**/deep/*", ".", ["src/deep/c.py"]),
            ("*/deep/[a-d].p?", ".", ["src/deep/c.py"]),
            ("deep/*", "src", ["src/deep/c.py"]),
            ("*", "src/deep", ["src/deep/c.py"]),
            ("*.rs", ".", ["No files matching '*.rs' in ."]),
            ("**/index.js", ".", ["No files matching '**/index.js' in ."]),
        ],
    )
    def test_patterns(self, tools: Tools, pattern: str, path: str, expected: list[str]) -> None:
        """`*` and `?` stay in a name, `**` crosses folders; hidden files and `node_modules` are left out."""
        assert tools("Glob", pattern=pattern, path=path).splitlines() == expected

    @pytest.mark.parametrize("pattern", ["/etc/*", "../*", "src/../../*"])
    def test_patterns_that_leave(self, tools: Tools, pattern: str) -> None:
        """A pattern that leaves its folder is refused."""
        assert tools("Glob", pattern=pattern) == "! Error: .: a pattern is relative to `path`, and stays in it"

    def test_at_most_500(self, tools: Tools, root: Path) -> None:
        """A list has at most 500 entries, and says how many there are."""
        for number in range(503):
            (root / f"{number:03}.log").touch()
        lines = tools("Glob", pattern="*.log").splitlines()
        assert (lines[0], lines[499:]) == ("000.log", ["499.log", "... (503 total, showing first 500)"])

    def test_many_stars(self, tools: Tools, root: Path) -> None:
        """A pattern of many stars takes no longer for a name that almost matches."""
        (root / ("a" * 200)).touch()
        assert tools("Glob", pattern="*a" * 60 + "b").startswith("No files matching ")
        assert tools("Glob", pattern="**/" * 60 + "b").startswith("No files matching ")


def test_gitignore_is_as_git_reads_it(tools: Tools, root: Path) -> None:
    """On request, `Glob` leaves out what Git itself ignores."""
    ignored = (
        "# comment\n*.log\n!keep.log\n/build/\ndocs/**/tmp\nnested/*.txt\n!nested/b.txt\n\\#odd\nends\\ \ndeep/**\n"
        "[ab]?.x\n"
    )
    paths = [
        "a.log", "keep.log", "build/out.o", "src/build/out.o", "docs/tmp/x", "docs/a/b/tmp/x", "docs/tmpx",
        "nested/a.txt", "nested/b.txt", "nested/more/c.txt", "#odd", "ends ", "ends", "deep/x/y", "a1.x", "c1.x",
        "sub/one.log", "sub/two.txt", "sub/keep/three.log", "sub/inner/one.log",
    ]  # fmt: skip
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    (root / ".gitignore").write_text(ignored)
    (root / "sub" / ".gitignore").write_text("*.txt\n!keep/three.log\n")
    git = ["git", "-C", str(root), "-c", "core.excludesFile="]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = [*git, "ls-files", "-z", "--others", "--exclude-standard"]
    expected = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
    found = tools("Glob", pattern="**/*", gitignore=True).splitlines()
    assert [path for path in found if (root / path).is_file()] == sorted(
        (path for path in expected if path and ".gitignore" not in path), key=lambda path: path.split("/")
    )
    assert "a.log" in tools("Glob", pattern="**/*").splitlines()
    inside = tools("Glob", pattern="*.txt", path="nested", gitignore=True)
    assert inside == "nested/b.txt"
