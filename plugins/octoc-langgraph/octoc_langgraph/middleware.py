"""The middleware for LangChain's `create_agent`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from octoc.adapters import Conversation
from octoc_langgraph.messages import shorten, take
from octoc_langgraph.tools import OctocTool, tools

ConversationOf = Conversation | Callable[[RunnableConfig], Conversation]
"""The conversation of an agent, or a function from the run's configuration, with its `thread_id`, to it."""


def conversation_of(source: ConversationOf) -> Conversation:
    """Return the conversation of the present run."""
    return source if isinstance(source, Conversation) else source(get_config())


class OctocMiddleware(AgentMiddleware):
    """Gives an agent of `create_agent` the tools and the prompt of a conversation of octoc.

    A node before the model routes new messages. Each request has the tools that are present then, beside those of the
    host, and the history repaired, aged and pruned; the state keeps its messages. The agent is asynchronous: call it
    with `ainvoke` or `astream`.
    """

    def __init__(self, conversation: ConversationOf) -> None:
        super().__init__()
        self._source = conversation

    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Route what the user said."""
        await take(conversation_of(self._source), state["messages"])
        return None

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Ask the model with the present tools and the shortened history."""
        conversation = conversation_of(self._source)
        shortened = await shorten(conversation, request.messages)
        system = request.system_message
        if system is None and conversation.instructions:
            system = SystemMessage(conversation.instructions)
        # A provider refuses two tools of one name; `awrap_tool_call` calls the host's.
        taken = {getattr(tool, "name", None) for tool in request.tools}
        present = [*request.tools, *(tool for tool in tools(conversation) if tool.name not in taken)]
        return await handler(request.override(messages=shortened.messages, tools=present, system_message=system))

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Call a tool of the host as it is, and any other name by the conversation."""
        if request.tool is None:
            tool = OctocTool.named(request.tool_call["name"], conversation_of(self._source))
            request = request.override(tool=tool)
        return await handler(request)
