"""The demo of `make demo`, where a machine has less than the one it was written on."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest

DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo" / "run.py"


def test_without_a_clone_or_git_the_demo_calls_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From an archive, or where git is not installed, both calls are of the time server; in a clone one is git's."""
    archive = Path(shutil.copy(DEMO, tmp_path / "run.py"))
    assert [name for name, _ in runpy.run_path(str(archive))["calls"]()] == ["convert_time", "get_current_time"]
    tmp_path.joinpath("clone/.git").mkdir(parents=True)
    clone = tmp_path / "clone" / "demo" / "run.py"
    clone.parent.mkdir()
    shutil.copy(DEMO, clone)
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(git.parent))
    assert [name for name, _ in runpy.run_path(str(clone))["calls"]()] == ["convert_time", "git_log"]
    git.unlink()
    assert [name for name, _ in runpy.run_path(str(clone))["calls"]()] == ["convert_time", "get_current_time"]
