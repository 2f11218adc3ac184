"""Messages of pydantic-ai in a shape that octoc shortens and repairs, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from octoc.adapters import NATIVE, Conversation

SHAPE = "anthropic"
"""The shape in which a message has several parts, as in pydantic-ai."""


async def shortened(conversation: Conversation, messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return the messages for one request, as `Conversation.shorten` does. System prompts always stay."""
    names = {part.tool_call_id: part.tool_name for part in _parts(messages) if isinstance(part, ToolCallPart)}

    def native(changed: Mapping[str, Any], message: ModelMessage | None) -> ModelMessage:
        content = changed["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        parts = [_part(block, names) for block in blocks]
        if isinstance(message, ModelResponse):
            return replace(message, parts=parts)
        if message is None:
            return ModelRequest(parts=parts)
        return replace(message, parts=[*_system_prompts([message]), *parts])

    done = await conversation.shorten_native(messages, neutral, native, SHAPE)
    kept = {id(part) for part in _system_prompts(done.messages)}
    gone = [part for part in _system_prompts(messages) if id(part) not in kept]
    if not gone:
        return done.messages
    first = done.messages[0] if done.messages and isinstance(done.messages[0], ModelRequest) else ModelRequest(parts=[])
    return [replace(first, parts=[*gone, *first.parts]), *(one for one in done.messages if one is not first)]


def neutral(message: ModelMessage) -> dict[str, Any]:
    """Return a message in `SHAPE`, without system prompts; each block has its part under `NATIVE`."""
    blocks = [_block(part) for part in message.parts if not isinstance(part, SystemPromptPart)]
    if isinstance(message, ModelResponse):
        return {"role": "assistant", "content": blocks}
    # The shape wants results first; pydantic-ai sorts the parts of a request itself.
    return {"role": "user", "content": sorted(blocks, key=lambda block: block["type"] != "tool_result")}


def _parts(messages: Sequence[ModelMessage]) -> list[Any]:
    return [part for message in messages for part in message.parts]


def _system_prompts(messages: Sequence[ModelMessage]) -> list[SystemPromptPart]:
    return [part for part in _parts(messages) if isinstance(part, SystemPromptPart)]


def _block(part: Any) -> dict[str, Any]:
    match part:
        case TextPart():
            return {"type": "text", "text": part.content, NATIVE: part}
        case UserPromptPart():
            items = [part.content] if isinstance(part.content, str) else part.content
            texts = [one.content if isinstance(one, TextContent) else one for one in items]
            return {"type": "text", "text": "\n".join(one for one in texts if isinstance(one, str)), NATIVE: part}
        case ToolCallPart():
            return {
                "type": "tool_use",
                "id": part.tool_call_id,
                "name": part.tool_name,
                "input": part.args or {},
                NATIVE: part,
            }
        case ToolReturnPart():
            return {"type": "tool_result", "tool_use_id": part.tool_call_id, "content": _content(part), NATIVE: part}
    return {"type": part.part_kind, NATIVE: part}


def _content(part: ToolReturnPart) -> list[dict[str, Any]]:
    """Return the content of a result: its text, then its files."""
    text = part.model_response_str()
    return [{"type": "text", "text": text}, *({"type": "file", NATIVE: file} for file in part.files)]


def _part(block: Mapping[str, Any], names: Mapping[str, str]) -> Any:
    """Return the part of a block: its own one where nothing changed."""
    part: Any = block.get(NATIVE)
    if block["type"] == "tool_use":
        return part if part.tool_call_id == block["id"] else replace(part, tool_call_id=block["id"])
    if block["type"] != "tool_result":
        return UserPromptPart(block["text"]) if part is None else part
    call, content = block["tool_use_id"], block["content"]
    if part is None:
        return ToolReturnPart(names.get(call, ""), content, call, outcome="interrupted")
    if content == _content(part):
        return part if part.tool_call_id == call else replace(part, tool_call_id=call)
    texts = [one["text"] for one in content if one["type"] == "text"]
    return replace(part, tool_call_id=call, content=[*texts, *part.files] if part.files else "\n".join(texts))
