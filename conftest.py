"""Fixtures of every test, of octoc and of its plugins: where real inputs and real MCP servers are."""

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

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
