"""How long a build takes: cold, unchanged, and whether it gives the same bytes from another folder."""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import row, seconds
from benchmarks.workspace import make_workspace

COLD_RUNS = 3
UNCHANGED_RUNS = 7


def main() -> None:
    """Measure and print."""
    octoc = str(Path(sys.executable).with_name("octoc"))
    with tempfile.TemporaryDirectory() as folder:
        root = make_workspace(Path(folder) / "one")
        build = [octoc, "build", "--workspace", str(root)]
        cold: list[float] = []
        digests: set[str] = set()
        for _ in range(COLD_RUNS):
            for made in (".octoc", "dist"):
                shutil.rmtree(root / made, ignore_errors=True)
            cold.append(seconds(build))
            digests.add(digest(root))
        row("cold build, encoder included", cold, "s", 1.0)
        row("unchanged rebuild", [seconds(build) for _ in range(UNCHANGED_RUNS)])
        other = Path(folder) / "two" / "deeper"
        shutil.copytree(root, other, ignore=shutil.ignore_patterns(".octoc", "dist"))
        seconds([octoc, "build", "--workspace", str(other)], env={"PYTHONHASHSEED": "7", "LC_ALL": "C"})
        digests.add(digest(other))
        print(f"{'different bundles over all these builds':<52} {len(digests):>9}")
        size = next((root / "dist").glob("*.octoc")).stat().st_size
        print(f"{'bundle':<52} {size / 1e6:>9.1f} MB")


def digest(root: Path) -> str:
    """Return the digest of a workspace's bundle."""
    return hashlib.sha256(next((root / "dist").glob("*.octoc")).read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
