"""The recorded terminal sessions of README and docs are of commands that exist."""

import re

import pytest

from docs_site.recordings.sessions import RECORDINGS, Recording

from .test_commands import PAGES, ROOT, _problem

FOLDER = ROOT / "docs" / "recordings"


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda one: one.name)
def test_each_recorded_command_exists_and_is_drawn(recording: Recording) -> None:
    """Each command line names a command and options of today, and the image has it, a title, and nothing remote."""
    lines = [line for line in (*recording.before, *recording.shown) if line.startswith("octoc ")]
    assert [problem for line in lines if (problem := _problem(line)) is not None] == []
    image = (FOLDER / f"{recording.name}.svg").read_text(encoding="utf-8")
    drawn = re.sub(r"<[^>]*>", "", image).replace("&#160;", " ").replace("&quot;", '"').replace("&#x27;", "'")
    for line in recording.shown:
        assert line in drawn
    assert recording.title in image
    assert re.findall(r"https?://[^\"' ]+", image) == ["http://www.w3.org/2000/svg"]


def test_each_image_is_recorded_and_on_a_page() -> None:
    """There is an image for each session and none beside them, and each is on a page."""
    names = {one.name for one in RECORDINGS}
    assert {path.stem for path in FOLDER.iterdir()} == names
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    assert [name for name in sorted(names) if f"recordings/{name}.svg)" not in pages] == []
