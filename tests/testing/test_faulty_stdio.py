"""The server that misbehaves, as plugin authors run it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from octoc.testing.faulty_stdio_server import MODES

BEGIN: dict[str, dict[str, object]] = {
    "handshake": {"method": "initialize", "params": {"protocolVersion": "2025-11-25"}},
    "modern": {"method": "server/discover", "params": {}},
}


def spoken(*arguments: str, lines: list[dict[str, object]] | None = None) -> subprocess.CompletedProcess[str]:
    """What the module prints and how it exits, given lines on stdin."""
    said = "".join(json.dumps({"jsonrpc": "2.0", "id": i, **line}) + "\n" for i, line in enumerate(lines or []))
    return subprocess.run(
        [sys.executable, "-m", "octoc.testing.faulty_stdio_server", *arguments],
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("era", sorted(BEGIN))
def test_it_serves_both_eras_from_the_command_line(era: str) -> None:
    """Run as a module in mode `none`, the server initializes, lists and answers in the given era."""
    done = spoken("none", "--era", era, lines=[BEGIN[era], {"method": "tools/call", "params": {"name": "echo"}}])
    first, second = map(json.loads, done.stdout.splitlines())
    assert ("protocolVersion" in first["result"]) == (era == "handshake")
    assert second["result"]["content"] == [{"type": "text", "text": "null"}]
    assert done.returncode == 0


def test_its_exit_is_the_modes() -> None:
    """A mode that exits does so with its own code and last words."""
    done = spoken("exit-in-call", lines=[{"method": "tools/call", "params": {"name": "fault"}}])
    assert (done.returncode, done.stderr) == (7, "line one\nfatal: out of luck\n")


def test_help_has_every_mode() -> None:
    """`--help` says of each mode what it does, and another mode is refused."""
    told = spoken("--help").stdout
    assert all(mode in told and what in told for mode, what in MODES.items())
    assert spoken("no-such-mode").returncode == 2
