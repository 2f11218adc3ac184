"""Servers over stdio that misbehave in every way of the table, each on a runtime of its own, under one memory limit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.faults.stdio_rows import ROWS, Row

ROOT = Path(__file__).parents[3]
GROWTH_KB = 192 * 1024
"""How much more of the machine's memory the runtimes of the whole table may ever hold together."""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What came of the whole table, played once, in a process of its own that may not take more memory than it says."""
    folder = tmp_path_factory.mktemp("rows")
    done = subprocess.run(
        [sys.executable, "-m", "tests.runtime.faults.stdio_rows", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_fault_is_a_value_and_touches_nobody_else(row: Row, told: dict[str, Any]) -> None:
    """The model gets what the row says, in time; the next call and another server's calls go on; no process is left."""
    (report,) = [report for report in told["rows"] if report["row"] == row.name]
    first, after, beside = report["first"], report["after"], report["beside"]
    assert first["kind"] == row.kind, first
    for fragment in row.says:
        assert fragment in first["text"], first
    assert "s3cr3t" not in first["text"], first
    lost = first["sent"] and first["kind"] in ("connection_lost", "timeout", "too_large", "protocol")
    assert ("it may have taken effect" in first["text"]) == lost, first
    assert first["seconds"] < row.within_s, first
    assert row.after in ("?", after["kind"]), after
    assert after["seconds"] < row.within_s, after
    assert beside["wrong"] == []
    assert beside["calls"] >= 3
    assert beside["slowest_s"] < row.within_s, beside
    assert tuple(report["heard"]) == row.heard
    assert report["left"] == []


def test_the_whole_table_leaves_no_task_and_no_descriptor(told: dict[str, Any]) -> None:
    """When every runtime is closed, no task is left and no file is open that was not open before."""
    assert told["tasks"] == []
    assert told["descriptors"] <= 0


def test_the_whole_table_takes_bounded_memory(told: dict[str, Any]) -> None:
    """Beside the hard limit under which it ran, the table's runtimes never held more than a bounded part of it."""
    assert told["grown_kb"] < GROWTH_KB
