"""A conversation's tools as an MCP server in this process, which the SDK connects to the program `claude`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any

from claude_agent_sdk import McpSdkServerConfig
from mcp.server import Server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, Tool

from octoc.adapters import AdapterTool, Conversation

ALWAYS_LOAD = "anthropic/alwaysLoad"
"""The key of a tool's `_meta` that keeps it out of Claude Code's own search for tools: octoc has chosen already."""


def mcp_server(
    conversation: Conversation,
    name: str = "octoc",
    *,
    read_only: Iterable[str] = (),
    on_listed: Callable[[tuple[AdapterTool, ...]], None] = lambda _: None,
) -> McpSdkServerConfig:
    """Return an entry for `ClaudeAgentOptions.mcp_servers`.

    The SDK's `create_sdk_mcp_server` takes a fixed list of tools; this server lists those of the moment.

    Args:
        read_only: names of tools that only read, with `*`, besides those whose annotations say so. Claude Code runs
            calls of other tools one after another.
        on_listed: gets the tools whenever Claude Code lists them.
    """
    patterns = tuple(read_only)

    def annotations(tool: AdapterTool) -> dict[str, Any]:
        is_named = any(fnmatchcase(tool.name, pattern) for pattern in patterns)
        return {**tool.annotations, **({"readOnlyHint": True} if is_named else {})}

    async def listed(_context: Any, _params: Any) -> ListToolsResult:
        tools = conversation.tools()
        on_listed(tools)
        return ListToolsResult(tools=[
            Tool.model_validate({
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.parameters,
                "annotations": annotations(tool),
                "_meta": {ALWAYS_LOAD: True},
            })
            for tool in tools
        ])  # fmt: skip

    async def called(_context: Any, params: CallToolRequestParams) -> CallToolResult:
        answer = await conversation.call(params.name, params.arguments)
        return CallToolResult.model_validate(answer.wire)

    server: Any = Server(name, on_list_tools=listed, on_call_tool=called)
    return McpSdkServerConfig(type="sdk", name=name, instance=server)
