from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.runtime.observability.conftest import OWN_PROCESS

ROOT = Path(__file__).resolve().parents[3]


def test_telemetry_holds_in_a_process_of_its_own() -> None:
    """Every test of spans and metrics passes in a process that sets OpenTelemetry's providers."""
    command = [sys.executable, "-m", "pytest", "-q", str(Path(__file__).with_name("test_telemetry.py"))]
    env = {**os.environ, OWN_PROCESS: "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) > 5
