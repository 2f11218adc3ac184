"""Fixtures of every test, of octoc and of its plugins: where real inputs and real MCP servers are."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

CHECKOUT = Path(__file__).resolve().parent

# No test depends on how fast the machine is. In CI a change is judged by the same examples each time; new ones are
# looked for wherever else the tests run.
settings.register_profile("octoc", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("octoc")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test reads or writes the user's own cache."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


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
