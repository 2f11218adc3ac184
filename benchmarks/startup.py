"""How long octoc takes to start: the command line, the import of the runtime, and a bundle's first search."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import in_turn, ratio, row, seconds
from benchmarks.workspace import make_workspace

RUNS = 15
OPEN_AND_FIND = """
import sys
from octoc.runtime import Runtime
runtime = Runtime.open(sys.argv[1])
assert runtime.session().search("read a file from the project")
"""
ENCODER_ALONE = """
import sys, numpy, onnxruntime
from octoc.runtime import Runtime
Runtime.open(sys.argv[1]).generation.routing.embedder().embed("read a file from the project")
"""


def main() -> None:
    """Measure and print."""
    # Bytecode is kept, as it is for whoever has installed octoc: what is compiled anew each time says nothing.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    python = sys.executable
    octoc = str(Path(python).with_name("octoc"))
    nothing, click, version, runtime = in_turn(
        RUNS,
        lambda: seconds([python, "-c", "pass"]),
        lambda: seconds([python, "-c", "import click"]),
        lambda: seconds([octoc, "--version"]),
        lambda: seconds([python, "-c", "import octoc.runtime"]),
    )
    row("python -c pass", nothing)
    row('python -c "import click"', click)
    row("octoc --version", version)
    ratio("octoc --version / import click", version, click)
    row("import octoc.runtime, beyond the interpreter", [a - b for a, b in zip(runtime, nothing, strict=True)])
    with tempfile.TemporaryDirectory() as folder:
        root = make_workspace(Path(folder))
        seconds([octoc, "build", "--workspace", str(root)])
        bundle = str(next((root / "dist").glob("*.octoc")))
        bare, encoder, opened = in_turn(
            RUNS,
            lambda: seconds([python, "-c", "pass"]),
            lambda: seconds([python, "-c", ENCODER_ALONE, bundle]),
            lambda: seconds([python, "-c", OPEN_AND_FIND, bundle]),
        )
        row("Runtime.open + first find, beyond the interpreter", [a - b for a, b in zip(opened, bare, strict=True)])
        row("of which the encoder and its first text", [a - b for a, b in zip(encoder, bare, strict=True)])
        ratio("open + first find / the encoder and its first text", opened, encoder)


if __name__ == "__main__":
    main()
