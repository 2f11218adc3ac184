"""Runs commands: in this process, or in one of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from octoc.cli import main

CHECKOUT = Path(__file__).resolve().parents[2]


@attrs.frozen(kw_only=True)
class Done:
    """How a command ended."""

    status: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def octoc(capsys: pytest.CaptureFixture[str]) -> Run:
    """A function that runs one command in this process."""

    def run(*arguments: str) -> Done:
        capsys.readouterr()
        status = main(arguments)
        out, err = capsys.readouterr()
        return Done(status=status, out=out, err=err)

    return run


@pytest.fixture
def octoc_process() -> Run:
    """A function that runs one command in a process of its own; `env` is added to the environment."""

    def run(*arguments: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "octoc", *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            cwd=cwd,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT), **(env or {})},
        )
        return Done(status=done.returncode, out=done.stdout, err=done.stderr)

    return run


TIME_DUMP = {
    "package": "mcp-server-time",
    "registry": "pypi",
    "tools": [
        {
            "name": "get_current_time",
            "description": "Get current time in a specific timezone",
            "inputSchema": {
                "type": "object",
                "properties": {"timezone": {"type": "string", "description": "IANA timezone name"}},
                "required": ["timezone"],
            },
        },
        {
            "name": "convert_time",
            "description": "Convert time between timezones",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "source_timezone": {"type": "string"},
                    "time": {"type": "string"},
                    "target_timezone": {"type": "string"},
                },
                "required": ["source_timezone", "time", "target_timezone"],
            },
        },
    ],
}

TRIGGERS = [
    "what time is it in Tokyo right now",
    "current time please",
    "convert 3pm CET to Pacific time",
    "which day of the week is it today",
    "time zone difference between Lisbon and Sao Paulo",
    "what is the UTC offset of Auckland at the moment",
]


def write_workspace(folder: Path, time_server: Path) -> Path:
    """Write a workspace with one capability on a real server, and an unlisted server that does not start."""
    capability = folder / "taps" / "acme" / "capabilities" / "time"
    capability.mkdir(parents=True)
    (folder / "octoc.toml").write_text(
        '[workspace]\nname = "acme"\n\n[[taps]]\nname = "acme"\npath = "taps/acme"\n', encoding="utf-8"
    )
    (folder / ".mcp.json").write_text('{"mcpServers": {"notes": {"command": "./no-such-server"}}}\n', encoding="utf-8")
    (capability / "config.toml").write_text(f"triggers = {json.dumps(TRIGGERS)}\n", encoding="utf-8")
    (capability / "installed.toml").write_text(
        "# Title: Time\n# Description: Clocks and time zones.\n\n"
        '[roles.mcp]\nserver_refs = ["time"]\nallowed_tools = ["time:*"]\n\n'
        f'[[mcp.servers]]\nname = "time"\ntype = "stdio"\ncommand = {json.dumps(str(time_server))}\nargs = []\n'
        "timeout_seconds = 30\ntools = []\n",
        encoding="utf-8",
    )
    (capability / "default.toml").symlink_to("installed.toml")
    return folder


@pytest.fixture
def workspace(tmp_path: Path, python_server: Callable[[str], Path]) -> Path:
    """A workspace of one's own, nothing pinned or built."""
    return write_workspace(tmp_path / "acme", python_server("mcp-server-time"))


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A recorded answer of the time server."""
    path = tmp_path / "mcp-server-time.json"
    path.write_text(json.dumps(TIME_DUMP), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, python_server: Callable[[str], Path]) -> Path:
    """A workspace that is pinned and built, for tests that only read it."""
    folder = write_workspace(tmp_path_factory.mktemp("built") / "acme", python_server("mcp-server-time"))
    dump = folder.parent / "dump.json"
    dump.write_text(json.dumps(TIME_DUMP), encoding="utf-8")
    assert main(["pin", "time", "--from", str(dump), "--workspace", str(folder)]) == 0
    assert main(["build", "--workspace", str(folder)]) == 0
    return folder
