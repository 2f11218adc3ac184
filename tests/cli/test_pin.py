"""`octoc pin` on live servers: what it keeps, shows and returns."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from octoc.testing import WorkspaceBuilder

from .conftest import Run

SERVER = """
import json, sys, time
from pathlib import Path
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        info = {"name": "s", "version": "1"}
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked["method"] == "tools/list":
        if sys.argv[1] == "slow":
            Path("asked").write_text("yes")
            time.sleep(600)
        names = ["one", ""] if sys.argv[1] == "unnamed" else ["one"]
        answer["result"] = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
"""


def workspace(folder: Path, *kinds: str, mode: str = "development") -> Path:
    """Write a workspace with a server of each kind: `quick`, `slow`, `unnamed`, or `needy`, which lacks a variable."""
    folder.mkdir(exist_ok=True)
    (folder / "server.py").write_text(SERVER, encoding="utf-8")
    builder = WorkspaceBuilder(folder, plugins={"use": ["transport-mcp"]}, mcp={"files": [".mcp.json"]})
    builder.settings("workspace", mode=mode)
    for kind in kinds:
        more = ("${OCTOC_TEST_NOT_SET}",) if kind == "needy" else ()
        builder.server(kind, sys.executable, "server.py", kind, *more)
    builder.write()
    return folder


def wait_for(*paths: Path) -> None:
    """Wait until all paths exist, a minute at most."""
    end = time.monotonic() + 60
    while not all(path.exists() for path in paths):
        assert time.monotonic() < end, paths
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_an_interrupt_keeps_the_answers_that_are_there(tmp_path: Path) -> None:
    """Interrupted, the command keeps what servers answered, names the one it waits for, and exits with 2."""
    folder = workspace(tmp_path / "ws", "quick", "slow")
    terminal, stderr = os.openpty()
    command = [sys.executable, "-m", "octoc", "pin"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=stderr, text=True) as pinning:
        os.close(stderr)
        wait_for(folder / "asked", folder / "snapshots" / "quick.json")
        pinning.send_signal(signal.SIGINT)
        out, _ = pinning.communicate(timeout=60)
    shown = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert (pinning.returncode, out) == (2, "quick: 1 tool, new\n"), shown
    assert "waiting for slow 1/2" in shown
    assert "stopped while waiting for `slow`; the answers of the others are kept" in shown
    assert not (folder / "snapshots" / "slow.json").exists()


def test_a_workspace_that_cannot_be_read_is_an_abnormal_end(octoc: Run, tmp_path: Path) -> None:
    """Where octoc.toml cannot be read, nothing is pinned and the exit status is 2."""
    folder = workspace(tmp_path / "ws", "quick")
    (folder / "octoc.toml").write_text("[workspace\n", encoding="utf-8")
    assert octoc("pin", "--workspace", str(folder)).status == 2


def test_a_server_that_only_lacks_variables_is_listed(octoc: Run, tmp_path: Path) -> None:
    """A missing variable is a warning that names it; with --strict the command fails."""
    folder = workspace(tmp_path / "ws", "quick", "needy")
    done = octoc("pin", "--workspace", str(folder))
    assert (done.status, done.out) == (0, "quick: 1 tool, new\n"), done.err
    assert "warning[OCT544] pin-failed: server `needy` could not be pinned" in done.err
    assert "`OCTOC_TEST_NOT_SET`, which is not set" in done.err
    strict = octoc("pin", "--strict", "--workspace", str(folder))
    assert strict.status == 1
    assert "error[OCT544]" in strict.err


def test_a_tool_that_was_left_out_stays_a_finding(octoc: Run, tmp_path: Path) -> None:
    """Each check names a tool that has no usable name, not only the command that pinned its server."""
    folder = workspace(tmp_path / "ws", "unnamed")
    assert octoc("pin", "--workspace", str(folder)).status == 0
    for _ in range(2):
        found = json.loads(octoc("check", "--json", "--workspace", str(folder)).out)
        (left_out,) = (one for one in found if one["code"] == "OCT316")
        assert left_out["message"] == "server `unnamed` listed a tool that was left out, number 2: it has no name"
        assert left_out["file"] == "snapshots/unnamed.json"


def test_production_sends_nothing_over_plain_http(octoc: Run, tmp_path: Path) -> None:
    """A production workspace pins no server at a plain HTTP address beyond this machine."""
    folder = workspace(tmp_path / "ws", mode="production")
    server = {"type": "http", "url": "http://mcp.invalid/mcp"}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"web": server}}), encoding="utf-8")
    done = octoc("pin", "--workspace", str(folder))
    assert done.status == 1
    assert "which production mode refuses" in done.err
