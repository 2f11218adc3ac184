"""Nodes for graphs of a host's own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import BaseMessage

from octoc_langgraph.messages import shorten, take
from octoc_langgraph.middleware import ConversationOf, conversation_of
from octoc_langgraph.tools import OctocTool

Node = Callable[[dict[str, Any]], Awaitable[dict[str, list[BaseMessage]]]]


def pre_model_node(conversation: ConversationOf) -> Node:
    """Return the node before the model: it routes, and writes the messages of the request to `llm_input_messages`.

    The key is the one that LangGraph's `pre_model_hook` writes. `messages` of the state stays as it is.
    """

    async def node(state: dict[str, Any]) -> dict[str, list[BaseMessage]]:
        present = conversation_of(conversation)
        await take(present, state["messages"])
        return {"llm_input_messages": (await shorten(present, state["messages"])).messages}

    return node


def tool_node(conversation: ConversationOf) -> Node:
    """Return the node after the model: it makes the calls of the last message at the same time."""

    async def node(state: dict[str, Any]) -> dict[str, list[BaseMessage]]:
        present = conversation_of(conversation)
        calls = state["messages"][-1].tool_calls
        made = (OctocTool.named(call["name"], present).ainvoke({**call, "type": "tool_call"}) for call in calls)
        return {"messages": list(await asyncio.gather(*made))}

    return node
