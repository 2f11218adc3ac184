"""Fixtures of every test, of octoc and of its plugins: snapshots, real inputs and real MCP servers."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

if TYPE_CHECKING:
    from octoc.testing import AdapterFleet

CHECKOUT = Path(__file__).resolve().parent

# `make test` runs the same examples on every machine, however busy it is; `make fuzz` looks for new ones.
# tests/house/test_examples.py holds every test to this profile.
settings.register_profile(
    "octoc",
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile(
    "fuzz",
    settings.get_profile("octoc"),
    derandomize=False,
    print_blob=True,
    suppress_health_check=list(HealthCheck),  # of one seed among many
)
settings.load_profile("octoc")
# Hypothesis also draws constants from the modules that are loaded, which depends on the tests that ran before.
providers._get_local_constants = lambda: providers._local_constants  # noqa: SLF001  # there is no setting for it

# A shell starts background jobs with SIGINT ignored, and programs that tests start and interrupt would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the user's own cache and state."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def realworld() -> Path:
    """The folder of real inputs: a real tap, and the recorded tools of real servers.

    It is no part of the project: `OCTOC_REALWORLD` names it, else it is sought beside the checkout.
    """
    named = os.environ.get("OCTOC_REALWORLD")
    folder = Path(named) if named else CHECKOUT.parent / "shared" / "realworld"
    if folder.is_dir():
        return folder
    if named:
        pytest.fail(f"OCTOC_REALWORLD names `{named}`, which is not a folder")
    pytest.skip("real-world inputs are not present: set OCTOC_REALWORLD")


@pytest.fixture(scope="session")
def node_server() -> Callable[[str], Path]:
    """A function from a server's npm name, as `server-everything`, to the script that `node` runs.

    Skips where node or the server is missing; mark the test `node`.
    """

    def find(name: str) -> Path:
        if shutil.which("node") is None:
            pytest.skip(f"needs node to run `{name}`: install Node.js, then run `make setup`")
        script = Path(sys.prefix) / "node" / "node_modules" / "@modelcontextprotocol" / name / "dist" / "index.js"
        if not script.is_file():
            pytest.skip(f"the npm server `{name}` is not installed: run `make setup` where npm works")
        return script

    return find


@pytest.fixture(scope="session")
def python_server() -> Callable[[str], Path]:
    """A function from a Python server's name, as `mcp-server-time`, to its program in this environment.

    A missing one fails the test: the servers are dependencies of development.
    """

    def find(name: str) -> Path:
        program = Path(sys.executable).with_name(name)
        if not program.is_file():
            pytest.fail(f"`{name}` is not installed beside `{sys.executable}`: run `make setup`")
        return program

    return find


@attrs.frozen
class RunningRedis:
    """A Redis of a test, at `url`."""

    url: str
    process: subprocess.Popen[bytes]


@pytest.fixture(scope="session")
def start_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], RunningRedis]]:
    """A function that starts a Redis, or a Valkey, on a socket of its own. Skips without one."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        pytest.skip("needs Redis or Valkey: `apt-get install redis-server`")
    if not any(point.name == "store-redis" for point in entry_points(group="octoc")):
        pytest.skip("octoc-store-redis is not installed: run `make setup`")
    with contextlib.ExitStack() as stack:

        def start() -> RunningRedis:
            folder = tmp_path_factory.mktemp("redis")
            words = [program, "--port", "0", "--unixsocket", str(folder / "s"), "--dir", str(folder), "--save", ""]
            process = stack.enter_context(subprocess.Popen(words, stdout=subprocess.DEVNULL))
            stack.callback(process.kill)
            while not (folder / "s").exists():
                if process.poll() is not None:
                    pytest.fail("Redis has ended")
                time.sleep(0.02)
            return RunningRedis(f"unix://{folder / 's'}?db=0", process)

        yield start


@pytest.fixture(scope="session")
def redis_url(start_redis: Callable[[], RunningRedis]) -> str:
    """The address of a Redis that all tests of this process use."""
    return start_redis().url


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
    from octoc.cli import main

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


CLOCK = """
def tools():
    schema = {"type": "object", "properties": {"timezone": {"type": "string"}}, "required": ["timezone"]}
    now = {"name": "get_current_time", "description": "Get current time in a specific timezone", "inputSchema": schema}
    return [now, {"name": "convert_time", "description": "Convert time between timezones", "inputSchema": schema}]


def call(name, arguments):
    zone = arguments.get("timezone")
    if zone in ("UTC", "Asia/Tokyo"):
        return json.dumps({"timezone": zone, "datetime": "2026-05-01T12:00:00"})
    return {"content": [{"type": "text", "text": f"Invalid timezone: {zone}"}], "isError": True}
"""


@pytest.fixture(scope="session")
def clock_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program: a server with the tools of `mcp-server-time`, which starts without the MCP SDK."""
    from octoc.testing import stdio_script

    program = tmp_path_factory.mktemp("clock") / "clock"
    program.write_text(f"#!{sys.executable} -IS\n{stdio_script(CLOCK)}", encoding="utf-8")
    program.chmod(0o755)
    return program


@pytest.fixture(scope="session")
def octoc_words() -> Iterator[list[str]]:
    """Words that start `octoc` in a process of its own, sooner than `python -m octoc`."""
    from octoc.testing import forked_octoc

    with forked_octoc() as words:
        yield words


@pytest.fixture(scope="session")
def adapter_fleet(tmp_path_factory: pytest.TempPathFactory) -> AdapterFleet:
    """The agent that adapters of frameworks are tested with.

    OCTOC_ADAPTER_FLEET names its folder where there is no compiler, as in the environments of `make adapters`.
    """
    from octoc.testing import AdapterFleet, build_adapter_fleet

    folder = os.environ.get("OCTOC_ADAPTER_FLEET")
    return AdapterFleet.in_folder(Path(folder)) if folder else build_adapter_fleet(tmp_path_factory.mktemp("fleet"))


Snapshots = Callable[[str, Mapping[str, str]], None]
_DIFF_LINES = 60


@pytest.fixture(scope="session")
def snapshots() -> Snapshots:
    """A function that compares the texts of a folder, by file name, with the files in `tests/snapshots/<folder>`.

    With OCTOC_WRITE_SNAPSHOTS set (`make snapshots`), it rewrites the folder instead and deletes what is left over.
    """

    def compare(folder: str, texts: Mapping[str, str]) -> None:
        root = CHECKOUT / "tests" / "snapshots" / folder
        if os.environ.get("OCTOC_WRITE_SNAPSHOTS"):
            root.mkdir(exist_ok=True)
            for stale in {path.name for path in root.iterdir()} - set(texts):
                (root / stale).unlink()
            for name, text in texts.items():
                (root / name).write_text(text, encoding="utf-8", newline="")
        recorded = {path.name: path.read_bytes().decode() for path in root.iterdir()}
        diff = [
            line
            for name in sorted({*texts, *recorded})
            for line in _diff(name, recorded.get(name, ""), texts.get(name, ""))
        ]
        if diff or set(texts) != set(recorded):
            shown = "\n".join(itertools.islice(diff, _DIFF_LINES))
            pytest.fail(f"tests/snapshots/{folder} differs; if the change is meant, run `make snapshots`\n{shown}")

    return compare


def _diff(name: str, old: str, new: str) -> list[str]:
    return list(difflib.unified_diff(old.splitlines(), new.splitlines(), name, name, n=1, lineterm=""))
