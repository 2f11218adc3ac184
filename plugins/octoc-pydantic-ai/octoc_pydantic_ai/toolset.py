"""A conversation's tools as a toolset, which lists them anew for each request to the model."""

from __future__ import annotations

import base64
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import BinaryContent, ToolReturn
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from octoc.adapters import AdapterTool, Conversation
from octoc_pydantic_ai.history import SHAPE, neutral

# octoc checks arguments itself, and refuses them in words for the model.
_ANYTHING = SchemaValidator(core_schema.any_schema())
_MAX_RETRIES = 3


class OctocToolset(AbstractToolset[Any]):
    """Routes a new message of the user before it lists the tools for the request.

    A failed call is a `ToolReturnPart` with `outcome="failed"`. A result's structured content and handle are in the
    part's `metadata`, as `CallAnswer.data` has them.
    """

    def __init__(self, conversation: Conversation, *, id: str = "octoc") -> None:  # noqa: A002  # pydantic-ai's word
        self.conversation = conversation
        self._id = id

    @property
    def id(self) -> str:
        return self._id

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """Return the tools for the next request. Raises: UnknownNameError if a reload removed the agent."""
        await self.conversation.take([neutral(message) for message in ctx.messages], SHAPE)
        return {tool.name: self._shown(tool) for tool in self.conversation.tools()}

    async def call_tool(self, name: str, tool_args: Any, ctx: RunContext[Any], tool: ToolsetTool[Any]) -> ToolReturn:
        """Make a call. Raises: ToolFailed, pydantic-ai's form of a failure that the model reads."""
        answer = await self.conversation.call(name, tool_args)
        if answer.failed:
            raise ToolFailed(answer.text)
        images = [BinaryContent(base64.b64decode(one.base64), media_type=one.mime_type) for one in answer.images]
        texts = [answer.text] if answer.text else []
        return ToolReturn([*texts, *images] if images else answer.text, metadata=answer.data or None)

    def _shown(self, tool: AdapterTool) -> ToolsetTool[Any]:
        # Not strict: a provider's strict mode would rewrite the servers' schemas, for some tools and not for others.
        definition = ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=tool.parameters,
            strict=False,
            metadata={"annotations": tool.annotations},  # where pydantic-ai's own MCP toolset has them
        )
        return ToolsetTool(toolset=self, tool_def=definition, max_retries=_MAX_RETRIES, args_validator=_ANYTHING)
