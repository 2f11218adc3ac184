"""The line that names what a command waits for."""

import io
import sys

import pytest

from octoc.cli.progress import ProgressLine


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def written(monkeypatch: pytest.MonkeyPatch, *, is_quiet: bool = False) -> str:
    """Return what a progress line writes to a terminal of 40 columns."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "40")
    with ProgressLine(is_quiet=is_quiet) as progress:
        progress("waiting for `a-server-with-a-long-name`, `another` and 5 more", 3, 20)
    return stream.getvalue()


def test_the_line_fits_and_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that would wrap is cut before the count, so that it can be taken away."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    _, line, end = written(monkeypatch).split("\r\x1b[K")
    assert line.endswith("… 3/20")
    assert line.startswith("waiting for")
    assert len(line) < 40
    assert end == ""


def test_nothing_is_written_where_no_person_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """CI, a terminal without cursor movement, and `--json` get no progress."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert written(monkeypatch, is_quiet=True) == ""
    monkeypatch.setenv("TERM", "dumb")
    assert written(monkeypatch) == ""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("CI", "true")
    assert written(monkeypatch) == ""
