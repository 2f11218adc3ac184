"""The page on testing routes: its fixtures are sound, its commands work, its tests pass."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_workspace

Run = Callable[..., Any]
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "testing-routes.md").read_text(encoding="utf-8")
WORKSPACE = '\n[[taps]]\nname = "core"\npath = "octoc:core"\n\n[providers]\ntime = "installed"\n'
SNAPSHOT = Path(__file__).resolve().parents[2] / "examples" / "demo" / "snapshots" / "time.json"


def blocks(language: str) -> list[str]:
    """Return the page's fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's workspace on the core tap, with its fixtures and the recorded tools of the demo."""
    root = tmp_path_factory.mktemp("page")
    fixtures, settings = blocks("toml")
    # What the page's limits come to is the fixtures' own business, not the page's.
    root.joinpath("octoc.toml").write_text(settings.partition("\n[test]")[0] + WORKSPACE, encoding="utf-8")
    for path, text in (("routing/office.toml", fixtures), ("snapshots/time.json", SNAPSHOT.read_text("utf-8"))):
        (root / path).parent.mkdir()
        (root / path).write_text(text, encoding="utf-8")
    return root


def test_the_pages_settings_are_sound(tmp_path: Path) -> None:
    """The limits that the page shows are read without a finding."""
    tmp_path.joinpath("octoc.toml").write_text(blocks("toml")[1], encoding="utf-8")
    assert check_workspace(tmp_path, use_cache=False).diagnostics == ()


def test_the_pages_commands_work(octoc: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command of the page ends well, one after another, and leaves what it says."""
    monkeypatch.chdir(folder)
    for block in blocks("sh"):
        for line in block.splitlines():
            done = octoc(*shlex.split(line)[1:])
            assert done.status == 0, f"{line}\n{done.out}{done.err}"
    assert (folder / "routing.lock").read_text(encoding="utf-8").count("{ text = ") == 3
    assert "<testsuites" in (folder / "routes.xml").read_text(encoding="utf-8")


def test_the_pages_tests_run(octoc: Run, folder: Path) -> None:
    """The page's first test passes on that bundle, and its second runs every fixture of the file."""
    assert octoc("build", "--workspace", str(folder)).status == 0
    script = blocks("python")[0] + (
        "\ntest_the_clock_is_asked_for_the_time()\n"
        "try:\n    test_every_message_of_a_file()\nexcept AssertionError as failed:\n"
        "    assert 'fixtures are not right' in str(failed)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
