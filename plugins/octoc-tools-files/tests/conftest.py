"""The tools of a folder, called as the runtime calls them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.plugin import PythonTool, ServerTarget, ToolResult
from octoc_tools_files import octoc_tools


class Tools:
    """The tools in the folder `root`."""

    def __init__(self, root: Path, **settings: Any) -> None:
        self.root = root
        target = ServerTarget(name="files", transport="builtin", cwd=str(root), settings=settings)
        self.by_name: dict[str, PythonTool] = {tool.name: tool for tool in octoc_tools("files", target) or ()}

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        """Call a tool."""
        result = await self.by_name[tool].handler(arguments)
        assert isinstance(result, ToolResult)
        return result

    def __call__(self, tool: str, **arguments: Any) -> str:
        """Return the text of a call; one of an error has `! ` before it."""
        result = asyncio.run(self.call(tool, **arguments))
        return f"! {result.text}" if result.is_error else result.text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of the tools."""
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def make_tools(root: Path) -> Callable[..., Tools]:
    """Make the tools with settings."""
    return lambda **settings: Tools(root, **settings)


@pytest.fixture
def tools(root: Path) -> Tools:
    """The tools with the default settings."""
    return Tools(root)
