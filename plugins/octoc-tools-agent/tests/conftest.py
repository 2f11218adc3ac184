"""The tools of a workspace, called as the runtime calls them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from octoc.plugin import Caller, PythonTool, ServerTarget, ToolResult
from octoc_tools_agent import HostFunctions, octoc_tools
from octoc_tools_agent.settings import AgentToolSettings
from octoc_tools_agent.tools import python_tools


class Tools:
    """The tools of the workspace `folder`, called by an agent of a user."""

    def __init__(self, folder: Path, functions: HostFunctions | None = None, **settings: Any) -> None:
        self.folder = folder
        self.caller = Caller(agent="supervisor", user="ann")
        if functions is None:
            target = ServerTarget(name="octo", transport="builtin", cwd=str(folder), settings=settings)
            tools = tuple(octoc_tools("octo", target) or ())
        else:
            tools = tuple(python_tools(AgentToolSettings.of(settings), folder, functions))
        self.by_name: dict[str, PythonTool] = {tool.name: tool for tool in tools}

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        """Call a tool."""
        with patch("octoc_tools_agent.store.current_caller", lambda: self.caller):
            result = await self.by_name[tool].handler(arguments)
        assert isinstance(result, ToolResult)
        return result

    def __call__(self, tool: str, **arguments: Any) -> str:
        """Return the text of a call; one of an error has `! ` before it."""
        result = asyncio.run(self.call(tool, **arguments))
        return f"! {result.text}" if result.is_error else result.text

    def of(self, **caller: Any) -> Tools:
        """Return the same tools for another caller."""
        other = object.__new__(Tools)
        other.folder, other.by_name = self.folder, self.by_name
        other.caller = Caller(**{"agent": "supervisor", **caller})
        return other


@pytest.fixture
def make_tools(tmp_path: Path) -> Callable[..., Tools]:
    """Make the tools of a workspace with settings."""
    return lambda functions=None, **settings: Tools(tmp_path, functions, **settings)


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """The tools with the default settings."""
    return Tools(tmp_path)
