"""Timing whole processes in turn, and printing medians and ratios."""

from __future__ import annotations

import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from octoc.compiler.cache.store import workspace_cache

Z = 1.96
"""Standard deviations of a 95 % interval."""

ROOT = Path(__file__).resolve().parent.parent


def forget(root: Path, *made: str) -> None:
    """Delete what octoc remembers of the workspace in `root`, and the files or folders `made` in it."""
    for path in (workspace_cache(root), *(root / name for name in made)):
        if path is not None and path.is_dir():
            shutil.rmtree(path)
        elif path is not None:
            path.unlink(missing_ok=True)


def seconds(command: Sequence[str], cwd: Path | None = None, env: Mapping[str, str] | None = None) -> float:
    """Return the wall time of a process that must succeed; a command line may report mistakes (exit status 1)."""
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, check=False)
    elapsed = time.perf_counter() - start
    if done.returncode and (done.returncode != 1 or b"Traceback" in done.stderr):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.decode(errors='replace')[-2000:]}")
    return elapsed


def processor_seconds(command: Sequence[str]) -> float:
    """Return the processor's time of a process that must succeed, which busy cores stretch less than wall time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_turn(runs: int, *what: Callable[[], float]) -> list[list[float]]:
    """Call each of `what` once to warm up and then `runs` times, in turn; return the figures of each."""
    for one in what:
        one()
    figures: list[list[float]] = [[] for _ in what]
    for _ in range(runs):
        for index, one in enumerate(what):
            figures[index].append(one())
    return figures


def row(name: str, figures: Sequence[float], unit: str = "ms", scale: float = 1000.0) -> None:
    """Print minimum, median and maximum."""
    low, mid, high = (value * scale for value in (min(figures), statistics.median(figures), max(figures)))
    print(f"{name:<52} {low:>9.1f} {mid:>9.1f} {high:>9.1f} {unit}   (min, median, max of {len(figures)})")


def ratio(name: str, above: Sequence[float], below: Sequence[float]) -> None:
    """Print the median of the ratios, turn by turn."""
    print(f"{name:<52} {statistics.median(a / b for a, b in zip(above, below, strict=True)):>19.2f}x")


def share(values: Sequence[bool]) -> str:
    """Return the share of true values with its 95 % interval (Wilson's)."""
    count = len(values)
    if not count:
        return "-"
    mean, square = sum(values) / count, Z * Z / count
    middle = (mean + square / 2) / (1 + square)
    half = Z * math.sqrt(mean * (1 - mean) / count + square / count / 4) / (1 + square)
    return f"{mean:.2f} ({max(0.0, middle - half):.2f}-{min(1.0, middle + half):.2f})"


def realworld() -> Path | None:
    """Return the folder of real inputs, or print that it is missing and return None."""
    path = Path(os.environ.get("OCTOC_REALWORLD") or ROOT.parent / "shared" / "realworld")
    if (path / "octomind-tap").is_dir():
        return path
    print("real-world inputs are not present (set OCTOC_REALWORLD): measuring the core tap or the demo instead")
    return None
