"""octoc's values made of the SDK's, and the reverse."""

from __future__ import annotations

from typing import Any

import mcp_types

from octoc.plugin import ContentPart, ListedTool, Progress, ToolCall


def progress_callback(call: ToolCall) -> Any:
    """Return the SDK's callback for a call's progress, or None if the caller does not want it."""
    heard = call.on_progress
    if heard is None:
        return None

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        heard(Progress(done=done, total=total, message=message))

    return on_progress


def listed_tools(tools: list[mcp_types.Tool]) -> tuple[ListedTool, ...]:
    """Return octoc's form of listed tools."""
    return tuple(ListedTool(name=tool.name, description=tool.description or "", wire=wire_of(tool)) for tool in tools)


def wire_of(model: Any) -> dict[str, Any]:
    """Return a model in MCP's wire form (camelCase)."""
    whole: dict[str, Any] = model.model_dump(by_alias=True, exclude_none=True, mode="json")
    return whole


def part_of(block: Any) -> ContentPart:
    """Return octoc's form of a content block."""
    if block.type == "text":
        return ContentPart(type="text", text=block.text)
    return ContentPart(type=block.type, data=wire_of(block))
