"""langchain-mcp-adapters at work, over stdio and HTTP, in an environment of its own: it wants another MCP SDK."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parent / "foreign" / "langchain_client.py"
OWN = ["find_tools", "call_mcp_tool", "capability", "read_result"]
everywhere = pytest.mark.parametrize("transport", ["stdio", "http"])

Ask = Callable[..., Any]


@pytest.fixture
def ask(root: Path, serve: Callable[..., Any]) -> Ask:
    """A function that has the adapters do a task, and returns what they saw. Skips where they are not installed."""
    python = Path(sys.prefix) / "langchain" / "bin" / "python"

    def asked(transport: str, task: str, *arguments: str) -> Any:
        if not python.is_file():
            pytest.skip("`langchain-mcp-adapters` is not installed: run `make setup` where pip works")
        connection: dict[str, Any]
        if transport == "http":
            connection = {"transport": "streamable_http", "url": serve(*arguments).url}
        else:
            words = ["-m", "octoc", "serve", "--workspace", str(root), *arguments]
            connection = {"transport": "stdio", "command": sys.executable, "args": words, "env": dict(os.environ)}
        wanted = json.dumps({"connection": connection, "task": task})
        done = subprocess.run([python, str(SCRIPT), wanted], capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return asked


@everywhere
def test_list_search_activate_call_and_page(ask: Ask, transport: str) -> None:
    """Tools become LangChain's; a search brings more, which is heard; one is called; a long result is read on."""
    saw = ask(transport, "work")
    assert saw["before"] == OWN
    assert re.search(r"\[octoc\] activat(ed|ing): `time`", saw["found"])
    assert "notifications/tools/list_changed" in saw["heard"]
    assert saw["joined"][: len(OWN)] == OWN
    assert json.loads(saw["now"])["timezone"] == "Asia/Tokyo"
    assert "w1999" not in saw["long"]
    assert "w1999" in saw["page"]


@everywhere
def test_what_is_out_of_scope_has_no_name(ask: Ask, transport: str) -> None:
    """An agent of two tools has these alone, and what it has not is refused as unknown."""
    saw = ask(transport, "scope", "--agent", "clerk")
    assert saw["names"] == ["plain__echo", "plain__pid"]
    assert saw["refused"] == [True, "not_found"]
