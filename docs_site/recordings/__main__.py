"""Records every session of `sessions.py`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from docs_site.page import ROOT
from docs_site.recordings.sessions import RECORDINGS, Recording
from docs_site.recordings.svg import drawn
from docs_site.recordings.terminal import environment, normalised, run

TARGET = ROOT / "docs" / "recordings"


def main(names: list[str]) -> None:
    """Write the image of each recording, or of those that are named."""
    TARGET.mkdir(exist_ok=True)
    for recording in RECORDINGS:
        if not names or recording.name in names:
            (TARGET / f"{recording.name}.svg").write_text(recorded(recording), encoding="utf-8")
            sys.stdout.write(f"docs/recordings/{recording.name}.svg\n")


def recorded(recording: Recording) -> str:
    """Return the image of a session that runs now, in a new folder. Raises: FileExistsError, if it is there."""
    home = Path(tempfile.gettempdir(), "octoc")  # always the same, so that two runs print the same paths
    home.mkdir()
    try:
        folder = home / "acme"
        if recording.folder:
            shutil.copytree(ROOT / recording.folder, folder, ignore=shutil.ignore_patterns("dist"))
        env = environment(home)
        _write(folder, recording.files)
        for line in recording.before:
            run(line, folder, env)
        _write(folder, recording.later)
        parts = [(line, normalised(run(line, folder, env))) for line in recording.shown]
    finally:
        shutil.rmtree(home)
    return drawn(recording.name, recording.title, parts)


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
