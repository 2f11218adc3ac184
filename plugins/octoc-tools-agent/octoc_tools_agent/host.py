"""The functions that a host gives to the tools which octoc cannot do itself."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs

from octoc.plugin import ToolResult

HostFunction = Callable[[Mapping[str, Any]], Any | Awaitable[Any]]
"""Gets the arguments of a call, and returns text, a JSON value or a ToolResult, at once or as an awaitable.

`octoc.plugin.current_caller()` is the caller in it. An exception is a failure of the tool, with the exception's text.
"""


@attrs.frozen(kw_only=True)
class HostFunctions:
    """The host's functions; a tool without its function fails with a reason.

    Args:
        schedule_task: gets `task`, `schedule_type` (`at`, `every`, `cron`), `spec`, `isolated`.
        send_file: gets `file_path`, `caption`. It must check the path: the model wrote it.
        claude_code: gets `prompt`, `working_directory`, `agent`, `timeout` (seconds). Without it octoc starts `claude`.
        task: gets `description`, `subagent_type`.
    """

    schedule_task: HostFunction | None = None
    send_file: HostFunction | None = None
    claude_code: HostFunction | None = None
    task: HostFunction | None = None


async def call_host(function: HostFunction | None, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
    """Return what the host's function for a tool returns."""
    if function is None:
        reason = f"this host gives no function for it (octoc_tools_agent.bind with `{tool}` gives one)"
        return ToolResult.of_text(f"Error: {tool} is not available: {reason}", is_error=True)
    value = function(arguments)
    if inspect.isawaitable(value):
        value = await value
    if isinstance(value, ToolResult):
        return value
    return ToolResult.of_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
