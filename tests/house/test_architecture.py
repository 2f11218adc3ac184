"""ARCHITECTURE.md tells the truth: its stages, hooks, files and folders are those of the tree."""

from __future__ import annotations

import re
from pathlib import Path

from octoc.compiler.pipeline import STAGES
from octoc.plugin import hookspecs

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MOST_LINES = 500


def section(heading: str) -> str:
    """Return the text of one section of the page."""
    return re.split(r"^##+ ", PAGE.split(f"## {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def test_the_stages_are_those_of_the_page() -> None:
    """The stage tuple has the names and the order of the page's picture, and its table names each of them."""
    names = [stage.__name__ for stage in STAGES]
    assert " -> ".join(names) in PAGE
    assert re.findall(r"\w+", " ".join(re.findall(r"^\| ([a-z, ]+) \|", section("Stages"), re.MULTILINE)))[1:] == names


def test_the_hooks_are_those_of_the_page() -> None:
    """The page names every existing hook and no other."""
    assert set(re.findall(r"`(octoc_\w+)`", section("Hooks"))) == {
        name for name in vars(hookspecs) if name.startswith("octoc_")
    }


def test_the_seven_files_of_the_reading_order_are_there() -> None:
    """The reading order names seven files, and each of them is in the tree."""
    files = re.findall(r"^\d\. `([^`]+)`", section("Reading order: seven files"), re.MULTILINE)
    assert len(files) == 7
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_every_room_of_the_tour_is_there() -> None:
    """Each folder in the table of folders exists, and the table has every part of `octoc/`."""
    rooms = re.findall(r"`([^`]+)`", " ".join(re.findall(r"^\| ([^|]+) \|", section("Folders"), re.MULTILINE)))
    rooms = [room.replace("<name>", "") for room in rooms]
    folders = [room for room in rooms if room.endswith("/")]
    assert [room for room in folders if not (ROOT / room.replace("//", "/")).is_dir()] == []
    parts = {path.name for path in (ROOT / "octoc").iterdir() if (path / "__init__.py").is_file()}
    assert parts == {room.split("/")[1] for room in folders if re.fullmatch(r"octoc/\w+/", room)}


def test_files_stay_small() -> None:
    """No file of the program is longer than 500 lines."""
    files = [*ROOT.glob("octoc/**/*.py"), *ROOT.glob("plugins/*/octoc_*/**/*.py")]
    assert len(files) > 100
    lengths = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {file: length for file, length in lengths.items() if length > MOST_LINES} == {}
