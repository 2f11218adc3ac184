"""A builtin server: Python functions of the host or of a plugin, with the interface of a real connection."""

from __future__ import annotations

import inspect
import json
import logging
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from octoc.caller import CALLER
from octoc.json_limits import check_numbers
from octoc.plain_text import because, words_of
from octoc.results import ContentPart, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.runtime.results.failures import failure

if TYPE_CHECKING:
    from octoc.plugin import PythonTool

logger = logging.getLogger("octoc.calls")


class BuiltinConnection:
    """A connection that calls functions in this process. A handler's exception is the tool's own error."""

    def __init__(self, server: str, tools: Iterable[PythonTool]) -> None:
        self._server = server
        self._tools: Mapping[str, PythonTool] = {}
        self.bind(tools)

    def bind(self, tools: Iterable[PythonTool]) -> None:
        """Replace the tools; calls under way still run the old ones."""
        self._tools = {tool.name: tool for tool in tools}

    @property
    def alive(self) -> bool:
        return True

    def listing(self) -> ServerListing:
        """Return the tools as a server would list them."""
        return ServerListing(
            server_info={"name": self._server},
            protocol_version="",
            instructions=None,
            tools=tuple(tool.listed for tool in self._tools.values()),
        )

    async def list_tools(self) -> ServerListing:
        return self.listing()

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        tool = self._tools.get(call.tool)
        if tool is None:
            return failure("not_ready", f"builtin server `{self._server}` has no tool `{call.tool}` bound to it")
        try:
            # A host may pass its own types to its own functions, but only numbers that JSON has.
            check_numbers(call.arguments)
        except (ValueError, RecursionError) as error:
            message = f"the arguments of `{call.tool}` cannot be written as JSON{because(error)}"
            return failure("bad_request", message, sent=False)
        token = CALLER.set(call.caller)
        try:
            value = tool.handler(call.arguments)
            if inspect.isawaitable(value):
                value = await value
        except Exception as error:  # whatever a host's function raises is an answer for the model
            logger.debug("the handler of %s/%s raised an exception", self._server, call.tool, exc_info=True)
            return ToolResult.of_text(words_of(error) or "the tool failed", is_error=True)
        finally:
            CALLER.reset(token)
        try:
            return _as_result(value)
        except (TypeError, ValueError, RecursionError) as error:
            return ToolResult.of_text(f"the tool's result cannot be written as JSON{because(error)}", is_error=True)

    async def close(self) -> None:
        return None


def _as_result(value: Any) -> ToolResult:
    """Return what a handler returned as a result. Raises: TypeError, ValueError, RecursionError if it is not JSON."""
    if isinstance(value, ToolResult):
        data = [part.data for part in value.content if part.data is not None]
        if data or value.structured is not None:
            check_numbers([data, value.structured])
        return value
    if isinstance(value, str):
        return ToolResult.of_text(value)
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return ToolResult(content=(ContentPart(type="text", text=text),), structured=value)
