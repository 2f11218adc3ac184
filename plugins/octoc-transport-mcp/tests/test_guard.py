"""Servers end with their host, however it ends, and not with a child that it forked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from octoc.testing import WorkspaceBuilder

STUBBORN = """
import json, os, signal, subprocess, sys, time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(3600)"])
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if asked["method"] == "initialize":
        info = {"name": "stubborn", "version": "1"}
        answer["result"] = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked["method"] == "tools/list":
        answer["result"] = {"tools": [{"name": "pids", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": f"{os.getpid()} {child.pid}"}]}
    else:
        answer["error"] = {"code": -32601, "message": "no"}
    print(json.dumps(answer), flush=True)
while True:
    time.sleep(3600)
"""
HOST = """
import asyncio, os, sys
from octoc.runtime import Runtime


async def main():
    async with Runtime.open(sys.argv[1], workspace=".") as runtime:
        session = runtime.session()
        print((await session.call("s/pids")).text, flush=True)
        if sys.argv[2] == "end":
            return
        if sys.argv[2] == "fork":
            number = os.fork()
            if not number:
                os._exit(asyncio.run(in_child(runtime, session)))
            print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), flush=True)
            print((await session.call("s/pids")).text, flush=True)
            return
        await asyncio.sleep(3600)


async def in_child(runtime, session):
    refused = await session.call("s/pids")
    for opened in runtime.state.current.pool["s"]._opened:
        await opened.connection.close()
    await runtime.close()
    return 0 if "forked" in refused.message else 1


asyncio.run(main())
"""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with a server that ignores the end of its stdin and SIGTERM, and has a child of its own."""
    workspace = WorkspaceBuilder(tmp_path_factory.mktemp("guard")).settings("workspace", plugins=["transport-mcp"])
    workspace.server("s", sys.executable, "-I", "-S", "-c", STUBBORN).snapshot("s", ["pids"])
    outcome = workspace.build()
    assert outcome.bundle is not None
    return outcome.bundle


def _host(bundle: Path, way: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HOST, str(bundle), way], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def _gone(pids: list[int]) -> bool:
    for _ in range(1200):
        if not any(map(_runs, pids)):
            return True
        time.sleep(0.05)
    return False


def _guards_of(group: int) -> list[str]:
    commands = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                commands.append((entry / "cmdline").read_text(encoding="utf-8", errors="replace"))
            except OSError:
                continue
    return [command for command in commands if "octoc-guard" in command and command.rstrip("\0").endswith(f"\0{group}")]


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks processes up in /proc")


@needs_proc
def test_a_server_does_not_survive_a_killed_host(bundle: Path) -> None:
    """A server that ignores the end of its stdin and SIGTERM ends after `kill -9` of its host, with its children."""
    with _host(bundle, "stay") as host:
        assert host.stdout is not None
        pids = [int(word) for word in host.stdout.readline().split()]
        assert len(pids) == 2
        assert len(_guards_of(pids[0])) == 1
        os.kill(host.pid, signal.SIGKILL)
        host.wait()
        assert _gone(pids)


@needs_proc
def test_no_guard_outlives_its_server(bundle: Path) -> None:
    """A host that ends in order leaves neither server nor guard, and no word about them."""
    with _host(bundle, "end") as host:
        said, errors = host.communicate()
    pids = [int(word) for word in said.split()]
    assert host.returncode == 0, errors
    assert "Traceback" not in errors
    assert "Warning" not in errors
    assert not any(map(_runs, pids))
    assert _guards_of(pids[0]) == []


@needs_proc
def test_a_forked_child_ends_no_server(bundle: Path) -> None:
    """A child that closes the runtime and its connections leaves the parent's server usable; its own calls fail."""
    with _host(bundle, "fork") as host:
        said, errors = host.communicate()
    before, status, after = said.splitlines()
    assert (host.returncode, status) == (0, "0"), errors
    assert "Traceback" not in errors
    assert before == after
