"""How long a build takes: cold, by stage, unchanged, and whether it gives the same bytes from another folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import forget, row, seconds
from benchmarks.workspace import make_workspace

COLD_RUNS = 3
UNCHANGED_RUNS = 7
STAGES = "--stages"
"""Option with a workspace's folder: build there, and print each stage's seconds of processor time as JSON."""

SHOWN = 0.1


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == [STAGES]:
        print(json.dumps(by_stage(Path(sys.argv[2]))))
        return
    # Bytecode is kept, as in an installation: compiling it each time would distort the figures.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    octoc = str(Path(sys.executable).with_name("octoc"))
    with tempfile.TemporaryDirectory() as folder:
        root = make_workspace(Path(folder) / "one")
        build = [octoc, "build", "--workspace", str(root)]
        cold: list[float] = []
        digests: set[str] = set()
        for _ in range(COLD_RUNS):
            forget(root, "dist")
            cold.append(seconds(build))
            digests.add(digest(root))
        row("cold build, encoder included", cold, "s", 1.0)
        for stage, figures in stages_of_cold(root).items():
            if max(figures) >= SHOWN:
                row(f"  seconds of processor time: {stage}", figures, "s", 1.0)
        seconds(build)
        row("unchanged rebuild", [seconds(build) for _ in range(UNCHANGED_RUNS)])
        other = Path(folder) / "two" / "deeper"
        shutil.copytree(root, other, ignore=shutil.ignore_patterns("dist"))
        seconds([octoc, "build", "--workspace", str(other)], env={"PYTHONHASHSEED": "7", "LC_ALL": "C"})
        digests.add(digest(other))
        print(f"{'different bundles over all these builds':<52} {len(digests):>9}")
        size = next((root / "dist").glob("*.octoc")).stat().st_size
        print(f"{'bundle':<52} {size / 1e6:>9.1f} MB")


def stages_of_cold(root: Path) -> dict[str, list[float]]:
    """Return the processor's seconds of each stage of cold builds, each in a process of its own, and of `all`."""
    found: dict[str, list[float]] = {}
    for _ in range(COLD_RUNS):
        forget(root, "dist")
        command = [sys.executable, "-m", "benchmarks.build", STAGES, str(root)]
        done = subprocess.run(command, capture_output=True, check=True)
        for stage, figure in json.loads(done.stdout).items():
            found.setdefault(stage, []).append(figure)
    return found


def by_stage(root: Path) -> dict[str, float]:
    """Build once, and return the processor's seconds of each stage, over all threads, and of the whole process."""
    from octoc.compiler import pipeline
    from octoc.compiler.context import Context
    from octoc.compiler.model.build import Build
    from octoc.compiler.workspace.build import build

    spent: dict[str, float] = {}

    def timed(stage: pipeline.Stage) -> pipeline.Stage:
        def run(build: Build, context: Context) -> Build:
            start = _processor_time()
            made = stage(build, context)
            spent[stage.__name__] = _processor_time() - start
            return made

        return run

    pipeline.STAGES = tuple(timed(stage) for stage in pipeline.STAGES)
    build(root)
    return {**spent, "all": _processor_time()}


def _processor_time() -> float:
    return sum(os.times()[:4])


def digest(root: Path) -> str:
    """Return the digest of a workspace's bundle."""
    return hashlib.sha256(next((root / "dist").glob("*.octoc")).read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
