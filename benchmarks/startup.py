"""How long octoc takes to start: the command line, the import of the runtime, and a bundle's first search.

The runtime's rows are processor time: the least of them is what there is to do, whatever else the machine does.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import in_turn, processor_seconds, ratio, row, seconds
from benchmarks.workspace import make_workspace

RUNS = 15
OPEN_AND_FIND = """
import sys
from octoc.runtime import Runtime
runtime = Runtime.open(sys.argv[1])
assert runtime.session().search("read a file from the project")
"""
OPEN = """
import sys
from octoc.runtime import Runtime
Runtime.open(sys.argv[1]).session()
"""
ENCODER_ALONE = """
import sys, numpy, onnxruntime
from octoc.runtime import Runtime
Runtime.open(sys.argv[1]).state.current.routing.embedder().embed("read a file from the project")
"""


def main() -> None:
    """Measure and print."""
    # Bytecode is kept, as in an installation: compiling it each time would distort the figures.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    python = sys.executable
    octoc = str(Path(python).with_name("octoc"))
    nothing, click, version = in_turn(
        RUNS,
        lambda: seconds([python, "-c", "pass"]),
        lambda: seconds([python, "-c", "import click"]),
        lambda: seconds([octoc, "--version"]),
    )
    row("python -c pass", nothing)
    row('python -c "import click"', click)
    row("octoc --version", version)
    ratio("octoc --version / import click", version, click)
    bare, packages, runtime = in_turn(
        RUNS,
        lambda: processor_seconds([python, "-c", "pass"]),
        lambda: processor_seconds([python, "-c", "import attrs, logging, pathlib, json, threading"]),
        lambda: processor_seconds([python, "-c", "import octoc.runtime"]),
    )
    least = min(bare)
    row("import octoc.runtime, beyond the interpreter", [one - least for one in runtime])
    row("of which attrs and the standard library", [one - least for one in packages])
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
        by_words(root, octoc, python)


def by_words(root: Path, octoc: str, python: str) -> None:
    """Measure the same workspace, searched by words alone: no encoder is loaded."""
    with (root / "octoc.toml").open("a", encoding="utf-8") as file:
        file.write('\n[search]\nrank = "bm25"\n')
    seconds([octoc, "build", "--workspace", str(root)])
    bundle = str(next((root / "dist").glob("*.octoc")))
    bare, numpy, opened, found = in_turn(
        RUNS,
        lambda: processor_seconds([python, "-c", "pass"]),
        lambda: processor_seconds([python, "-c", "import numpy"]),
        lambda: processor_seconds([python, "-c", OPEN, bundle]),
        lambda: processor_seconds([python, "-c", OPEN_AND_FIND, bundle]),
    )
    least = min(bare)
    row("Runtime.open + session, beyond the interpreter", [one - least for one in opened])
    row("… and the first find by words alone", [one - least for one in found])
    row("numpy alone", [one - least for one in numpy])


if __name__ == "__main__":
    main()
