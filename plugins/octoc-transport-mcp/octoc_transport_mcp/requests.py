"""Sends calls and other requests through the SDK, and returns their answers as octoc's values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mcp_types

from octoc.plugin import ToolResult
from octoc_transport_mcp.conversion import part_of, progress_callback, wire_of

if TYPE_CHECKING:
    from mcp.client.client import Client

    from octoc.plugin import ToolCall

_JSON = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


async def call_tool(client: Client, call: ToolCall) -> ToolResult:
    """Call a tool and return its result. Raises: what the SDK raises."""
    answer = await client.call_tool(
        call.tool,
        dict(call.arguments),
        progress_callback=progress_callback(call),
        meta=dict(call.meta) or None,  # type: ignore[arg-type]  # any key is allowed
    )
    return ToolResult(
        content=tuple(map(part_of, answer.content)),
        structured=answer.structured_content,
        is_error=bool(answer.is_error),
    )


def why_no_json(arguments: Mapping[str, Any]) -> str | None:
    """Return why arguments cannot be written as JSON, or None. The SDK would send `null` for a NaN."""
    try:
        _JSON.encode(dict(arguments)).encode()
    except RecursionError:
        return "they are nested too deep"
    except (TypeError, ValueError) as error:
        return str(error)
    return None


async def send_request(client: Client, call: ToolCall) -> ToolResult:
    """Send a request and return its answer. Raises: what the SDK raises, ValueError for another method."""
    given = call.arguments
    meta: Any = dict(call.meta) or None
    answer: Any
    if call.method == "resources/read":
        answer = await client.read_resource(given["uri"], meta=meta)
    elif call.method == "prompts/get":
        answer = await client.get_prompt(given["name"], given.get("arguments"), meta=meta)
    elif call.method == "completion/complete":
        params = mcp_types.CompleteRequestParams.model_validate({**given, "_meta": meta}, by_name=False)
        request = mcp_types.CompleteRequest(params=params)
        answer = await client.session.send_request(request, mcp_types.CompleteResult)
    else:
        raise ValueError(f"`{call.method}` is not sent")
    return ToolResult(content=(), structured=wire_of(answer))
