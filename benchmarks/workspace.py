"""A workspace to measure on: the real tap with its recorded tools where it is present, else the demo."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import ROOT, realworld


def make_workspace(root: Path) -> Path:
    """Write a workspace into `root`, and pin what there is a recorded list for."""
    real = realworld()
    if real is None:
        unneeded = shutil.ignore_patterns("*.lock", "routing", "dist")
        shutil.copytree(ROOT / "examples" / "demo", root, ignore=unneeded, dirs_exist_ok=True)
        return root
    root.mkdir(parents=True, exist_ok=True)
    root.joinpath("octoc.toml").write_text(
        f'[workspace]\nname = "bench"\n\n[[taps]]\nname = "tap"\npath = "{real / "octomind-tap"}"\n', encoding="utf-8"
    )
    octoc = str(Path(sys.executable).with_name("octoc"))
    for dump in sorted((real / "tools").glob("*.json")):
        # A recorded package that no server of the tap runs is reported; here that is expected.
        subprocess.run([octoc, "pin", "--workspace", str(root), "--from", str(dump)], capture_output=True, check=False)
    return root
