"""The public face of the compiler."""

import subprocess
import sys


def test_importing_the_face_loads_no_stage() -> None:
    """A fresh process that imports `octoc.compiler` has loaded none of its modules."""
    program = "import sys, octoc.compiler; print([m for m in sys.modules if m.startswith('octoc.compiler.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
