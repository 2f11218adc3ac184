"""What ends a command that talks to servers ends the servers, too."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from octoc.testing import WorkspaceBuilder, stdio_script

SERVER = stdio_script("""
def call(name, arguments):
    Path("called").write_text(str(os.getpid()))
    time.sleep(600)
""")


def _until(seconds: float, path: Path) -> str:
    """Wait for a file with something in it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.05)
    pytest.fail(f"there is no `{path.name}` after {seconds:g} s")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_command_and_its_servers(tmp_path: Path, number: signal.Signals) -> None:
    """A signal during a call makes the command print one word, exit with 2, and end its server."""
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the process that started the tests ignores this signal")
    (tmp_path / "server.py").write_text(SERVER)
    builder = WorkspaceBuilder(tmp_path, plugins={"use": ["transport-mcp"]}, mcp={"files": [".mcp.json"]})
    builder.server("slow", sys.executable, "server.py").write()
    octoc = [sys.executable, "-m", "octoc"]
    subprocess.run([*octoc, "build"], cwd=tmp_path, check=True, capture_output=True)
    with subprocess.Popen([*octoc, "call", "slow", "nap"], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as calling:
        server = int(_until(60, tmp_path / "called"))
        calling.send_signal(number)
        _, said = calling.communicate(timeout=60)
    assert (calling.returncode, said.strip()) == (2, "interrupted")
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)
