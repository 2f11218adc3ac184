"""Tools of a conversation as LangChain's."""

from __future__ import annotations

from typing import Any, Literal

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from octoc.adapters import AdapterTool, CallAnswer, Conversation


class OctocTool(BaseTool):
    """A tool of a conversation, called with `ainvoke`. Its `metadata` has the annotations of its server.

    The `artifact` of its `ToolMessage` is `CallAnswer.data`: structured content, handle and kind of failure. A failed
    call is a message with `status="error"`.
    """

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    conversation: Conversation

    @classmethod
    def of(cls, tool: AdapterTool) -> OctocTool:
        """Return a tool of a conversation as LangChain's."""
        return cls(
            name=tool.name,
            description=tool.description,
            args_schema=tool.parameters,
            metadata={**tool.annotations} or None,
            conversation=tool.conversation,
        )

    @classmethod
    def named(cls, name: str, conversation: Conversation) -> OctocTool:
        """Return a tool by the name that the model wrote, whether or not it exists."""
        return cls(name=name, description="", args_schema={"type": "object"}, conversation=conversation)

    async def arun(self, *args: Any, **kwargs: Any) -> Any:
        """Call the tool; as `BaseTool.arun`, with the status of the message."""
        message = await super().arun(*args, **kwargs)
        if isinstance(message, ToolMessage) and message.artifact and message.artifact.get("failed"):
            message.status = "error"
        return message

    def _run(self, /, **_: Any) -> Any:
        raise NotImplementedError("tools of octoc are asynchronous: call the agent with `ainvoke` or `astream`")

    async def _arun(self, /, **arguments: Any) -> tuple[Any, dict[str, Any]]:
        answer = await self.conversation.call(self.name, arguments)
        return _content(answer), answer.data


def tools(conversation: Conversation) -> list[OctocTool]:
    """Return the present tools of a conversation, to bind for one request."""
    return [OctocTool.of(tool) for tool in conversation.tools()]


def _content(answer: CallAnswer) -> str | list[dict[str, Any]]:
    if not answer.images:
        return answer.text
    images = [{"type": "image", "base64": one.base64, "mime_type": one.mime_type} for one in answer.images]
    return [{"type": "text", "text": answer.text}, *images] if answer.text else images
