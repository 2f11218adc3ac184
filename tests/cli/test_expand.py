"""`octoc expand`: what it prints, and how it ends."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from octoc.testing import WorkspaceBuilder

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "paraphraser"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that uses the example's plugin, whose program answers with one message."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    point = EntryPoint(name="paraphraser", value="paraphraser", group="octoc")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [point])
    program = tmp_path / "answer.py"
    program.write_text("print('1. is it late already?')", encoding="utf-8")
    monkeypatch.setenv("PARAPHRASER", f"{sys.executable} {program}")
    root = tmp_path / "w"
    builder = WorkspaceBuilder(root).settings("plugins", use=["paraphraser"])
    builder.capability(
        "clock", ["what time is it", "the hour in Rome", "clock of Tokyo"], server={"command": "c"}
    ).write()
    return root


def test_what_was_asked_is_told(installed: Path, octoc: Callable[..., Any]) -> None:
    """Each capability that was asked for has a line, and the next step is to review the file; then nothing is due."""
    done = octoc("expand", "--workspace", str(installed))
    assert (done.status, done.out) == (0, "clock: 1 new, 0 kept\nreview routing/expanded.toml\n")
    done = octoc("expand", "--workspace", str(installed))
    assert done.out == "1 capability unchanged: not asked again\nrouting/expanded.toml is unchanged\n"


def test_json(installed: Path, octoc: Callable[..., Any]) -> None:
    """With --json stdout is one object."""
    told = json.loads(octoc("expand", "clock", "--json", "--workspace", str(installed)).out)
    assert told["asked"] == [{"capability": "clock", "new": ["is it late already?"], "kept": 0, "dropped": 0}]
    assert told["changed"] is True


def test_a_failure_ends_with_1(installed: Path, octoc: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A plugin that cannot answer, and a capability that is not there, are errors with a next step."""
    monkeypatch.delenv("PARAPHRASER")
    done = octoc("expand", "--workspace", str(installed))
    assert done.status == 1
    assert "OCT705" in done.err
    done = octoc("expand", "clokc", "--workspace", str(installed))
    assert done.status == 1
    assert "did you mean `clock`?" in done.err


def test_a_file_that_cannot_be_read_is_left_alone(installed: Path, octoc: Callable[..., Any]) -> None:
    """What a person broke in the file is shown and not written over."""
    file = installed / "routing/expanded.toml"
    file.parent.mkdir()
    file.write_text("[clock]\nsays = [\n", encoding="utf-8")
    done = octoc("expand", "--workspace", str(installed))
    assert done.status == 1
    assert "routing/expanded.toml" in done.err
    assert file.read_text(encoding="utf-8") == "[clock]\nsays = [\n"


def test_without_a_plugin(tmp_path: Path, octoc: Callable[..., Any]) -> None:
    """No plugin has the hook: one line, what to do, and that routing works without."""
    builder = WorkspaceBuilder(tmp_path).settings("plugins", use=[])
    builder.capability("clock", ["what time is it", "the hour", "clock of Tokyo"], server={"command": "c"}).write()
    done = octoc("expand", "--workspace", str(tmp_path))
    assert done.status == 1
    assert "no installed plugin expands triggers" in done.err


def test_a_file_that_cannot_be_written_is_told(installed: Path, octoc: Callable[..., Any]) -> None:
    """What stands in its way is named in one line."""
    (installed / "routing").write_text("no folder", encoding="utf-8")
    done = octoc("expand", "--workspace", str(installed))
    assert done.status == 1
    assert "routing/expanded.toml` cannot be written: " in done.err


def test_settings_that_cannot_be_read_end_with_2(installed: Path, octoc: Callable[..., Any]) -> None:
    """The command could not begin, and the source line is quoted."""
    (installed / "octoc.toml").write_text("[workspace\n", encoding="utf-8")
    done = octoc("expand", "--workspace", str(installed))
    assert (done.status, done.out) == (2, "")
    assert "1 | [workspace\n" in done.err
