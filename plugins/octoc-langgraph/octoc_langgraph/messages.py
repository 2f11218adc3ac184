"""LangChain's messages in the shape of OpenAI's chat, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from octoc.adapters import NATIVE, Conversation, ShortenedHistory, Turn

_ROLES = {"human": "user", "ai": "assistant"}
_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call"})


async def take(conversation: Conversation, messages: Sequence[BaseMessage]) -> Turn | None:
    """Route what the user said after the model's last message, as `Conversation.take`."""
    return await conversation.take([to_neutral(message) for message in messages], "openai")


async def shorten(conversation: Conversation, messages: Sequence[BaseMessage]) -> ShortenedHistory:
    """Return the messages for one request, as `Conversation.shorten`."""
    return await conversation.shorten_native(messages, to_neutral, to_native)


def to_neutral(message: BaseMessage) -> dict[str, Any]:
    """Return a message in OpenAI's shape."""
    neutral: dict[str, Any] = {"role": _ROLES.get(message.type, message.type), "content": message.content}
    if isinstance(message, AIMessage) and (calls := [*message.tool_calls, *message.invalid_tool_calls]):
        neutral["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": _text(call["args"])},
                NATIVE: call,
            }
            for call in calls
        ]
    if isinstance(message, ToolMessage):
        neutral["tool_call_id"] = message.tool_call_id
    return neutral


def to_native(new: Mapping[str, Any], old: BaseMessage | None) -> BaseMessage:
    """Return a changed or new message as LangChain's."""
    content = new.get("content")
    if new["role"] == "tool":
        changes = {"content": content, "tool_call_id": new["tool_call_id"]}
        return ToolMessage(**changes, status="error") if old is None else old.model_copy(update=changes)
    if isinstance(old, AIMessage):
        return _with_calls(old, new.get("tool_calls", ()))
    return HumanMessage(content=str(content))


def _with_calls(message: AIMessage, kept: Sequence[Mapping[str, Any]]) -> AIMessage:
    """Return a message with some of its calls, under the ids that they have now."""
    ids = {call[NATIVE]["id"]: call["id"] for call in kept}
    calls = [{**call[NATIVE], "id": call["id"]} for call in kept]
    content = message.content
    if isinstance(content, list):  # Anthropic's blocks repeat the calls
        content = [
            {**block, "id": ids[block["id"]]} if _is_call(block) else block
            for block in content
            if not _is_call(block) or block.get("id") in ids
        ]
    changes = {
        "tool_calls": [call for call in calls if call["type"] != "invalid_tool_call"],
        "invalid_tool_calls": [call for call in calls if call["type"] == "invalid_tool_call"],
        "content": content,
        # OpenAI's client repeats the calls there.
        "additional_kwargs": {key: one for key, one in message.additional_kwargs.items() if key != "tool_calls"},
    }
    return message.model_copy(update=changes)


def _is_call(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") in _CALL_BLOCKS


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
