"""A workspace to measure on: the real tap with its recorded tools where it is present, else the core tap."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.measure import realworld


def make_workspace(root: Path, *, name: str = "bench") -> Path:
    """Write a workspace into `root`, and pin what there is a recorded list for."""
    real = realworld()
    tap = "octoc:core" if real is None else str(real / "octomind-tap")
    root.mkdir(parents=True, exist_ok=True)
    root.joinpath("octoc.toml").write_text(
        f'[workspace]\nname = "{name}"\n\n[[taps]]\nname = "tap"\npath = "{tap}"\n', encoding="utf-8"
    )
    if real is not None:
        octoc = str(Path(sys.executable).with_name("octoc"))
        for dump in sorted((real / "tools").glob("*.json")):
            # A recorded package that no server of the tap runs is reported; here that is expected.
            subprocess.run(
                [octoc, "pin", "--workspace", str(root), "--from", str(dump)], capture_output=True, check=False
            )
    return root
