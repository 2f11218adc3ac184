"""The npm SDK's client at work, both lines of its releases, over stdio and HTTP: what it sees is what ours sees."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.node
SCRIPT = Path(__file__).parent / "foreign" / "npm_client.mjs"
OWN = ["find_tools", "call_mcp_tool", "capability", "read_result"]
everywhere = pytest.mark.parametrize("transport", ["stdio", "http"])
both_lines = pytest.mark.parametrize("package", ["sdk", "client"])

Ask = Callable[..., Any]


@pytest.fixture
def ask(root: Path, octoc_words: list[str], serve: Callable[..., Any]) -> Ask:
    """A function that has a client do a task, and returns what it saw. Skips where the package is not installed."""
    modules = Path(sys.prefix) / "node" / "node_modules"

    def asked(package: str, transport: str, task: str, *arguments: str) -> Any:
        if shutil.which("node") is None:
            pytest.skip("needs node to run a client: install Node.js, then run `make setup`")
        if not (modules / "@modelcontextprotocol" / package / "dist").is_dir():
            pytest.skip(f"`@modelcontextprotocol/{package}` is not installed: run `make setup` where npm works")
        if transport == "http":
            where: dict[str, Any] = {"url": serve(*arguments).url}
        else:
            words = [*octoc_words[1:], "serve", "--workspace", str(root), *arguments]
            where = {"command": octoc_words[0], "args": words}
        wanted = {"modules": str(modules), "package": package, "task": task, **where}
        done = subprocess.run(
            ["node", str(SCRIPT), json.dumps(wanted)], capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return asked


@everywhere
@both_lines
def test_list_search_activate_call_and_page(ask: Ask, package: str, transport: str) -> None:
    """It searches with the user's words, hears that tools joined, calls one, hears its steps, and reads on."""
    saw = ask(package, transport, "work")
    assert saw["version"] is None or saw["version"].startswith("2026" if package == "client" else "2025")
    assert "Available servers:" in saw["instructions"]
    assert saw["before"] == OWN
    assert re.search(r"\[octoc\] activat(ed|ing): `time`", saw["found"])
    assert saw["error"] is None
    assert saw["joined"][: len(OWN)] == OWN
    assert any(name.endswith("get_current_time") for name in saw["joined"])
    assert saw["now"]["timezone"] == "Asia/Tokyo"
    assert "w1999" not in saw["long"]
    assert "w1999" in saw["page"]
    assert (saw["done"], saw["steps"]) == ("done", [1, 2, 3])


@everywhere
@both_lines
def test_what_is_out_of_scope_has_no_name(ask: Ask, package: str, transport: str) -> None:
    """An agent of two tools lists these alone, and everything else is refused as unknown."""
    saw = ask(package, transport, "scope", "--agent", "clerk")
    assert saw["names"] == ["plain__echo", "plain__pid"]
    assert json.loads(saw["own"]) == {"a": 1}
    assert set(map(tuple, saw["refused"].values())) == {(True, "not_found")}
