"""`${workspaceFolder}` in a bundle that the gateway serves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import TextContent

from octoc.testing import WorkspaceBuilder, stdio_script

SERVER = stdio_script("""
def tools():
    return ["read"]


def call(name, arguments):
    return Path(sys.argv[1]).read_text() + "|" + os.getcwd()
""")


@pytest.mark.parametrize("is_named", [False, True], ids=["recorded", "named"])
def test_a_server_runs_in_the_workspace(
    run: Callable[..., None], tmp_path: Path, octoc_words: list[str], is_named: bool
) -> None:
    """From any working directory it is the folder that the bundle records, or the one that `--workspace` names."""
    recorded, named, elsewhere = (tmp_path / name for name in ("recorded", "named", "elsewhere"))
    for folder in (recorded, named, elsewhere):
        folder.mkdir()
        folder.joinpath("note.txt").write_text(folder.name, encoding="utf-8")
        folder.joinpath("server.py").write_text(SERVER, encoding="utf-8")
    builder = WorkspaceBuilder(recorded, plugins={"use": ["transport-mcp"]}, mcp={"files": [".mcp.json"]})
    builder.server("notes", sys.executable, "${workspaceFolder}/server.py", "${workspaceFolder}/note.txt")
    bundle = builder.agent("supervisor").build().bundle
    assert bundle is not None
    words = [*octoc_words[1:], "serve", "--bundle", str(bundle), *(["--workspace", str(named)] if is_named else [])]
    gateway: Any = StdioServerParameters(command=octoc_words[0], args=words, cwd=elsewhere)
    folder = named if is_named else recorded

    async def scenario() -> None:
        async with Client(gateway) as client:
            result = await client.call_tool("call_mcp_tool", {"tool_name": "notes__read"})
            (content,) = result.content
            assert isinstance(content, TextContent)
            assert content.text == f"{folder.name}|{folder}"

    run(scenario)
