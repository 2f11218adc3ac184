"""Runs commands: in this process, or in one of their own."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.cli import main
from octoc.compiler.cache.store import Cache
from octoc.compiler.calibrate import stage

CHECKOUT = Path(__file__).resolve().parents[2]


Run = Callable[..., Any]


@pytest.fixture(scope="session")
def gates(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    """The gates that builds of commands have trained."""
    return Cache(tmp_path_factory.mktemp("gates"))


@pytest.fixture(scope="module", autouse=True)
def _gates_are_trained_once(gates: Cache) -> Iterator[None]:
    """Train one gate for equal triggers, whatever the workspace and its cache: these tests are of commands."""
    learned = stage._learned
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage, "_learned", lambda build, context: learned(build, attrs.evolve(context, cache=gates)))
        yield


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
    """Write a workspace with one capability on a server of the clock, and an unlisted server that does not start."""
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
def workspace(tmp_path: Path, clock_server: Path) -> Path:
    """A workspace of one's own, nothing pinned or built."""
    return write_workspace(tmp_path / "acme", clock_server)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A recorded answer of the time server."""
    path = tmp_path / "mcp-server-time.json"
    path.write_text(json.dumps(TIME_DUMP), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, clock_server: Path) -> Path:
    """A workspace that is pinned and built, for tests that only read it."""
    folder = write_workspace(tmp_path_factory.mktemp("built") / "acme", clock_server)
    dump = folder.parent / "dump.json"
    dump.write_text(json.dumps(TIME_DUMP), encoding="utf-8")
    assert main(["pin", "time", "--from", str(dump), "--workspace", str(folder)]) == 0
    assert main(["build", "--workspace", str(folder)]) == 0
    return folder
