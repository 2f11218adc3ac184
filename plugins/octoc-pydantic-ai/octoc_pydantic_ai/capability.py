"""Everything that an agent of pydantic-ai gets of a conversation: prompt, tools, and the history of each request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext

from octoc.adapters import Conversation
from octoc_pydantic_ai.history import shortened
from octoc_pydantic_ai.toolset import OctocToolset


class Octoc(AbstractCapability[Any]):
    """A capability for `Agent(capabilities=[…])`, or for one run: `agent.run(…, capabilities=[Octoc(conversation)])`.

    A conversation has one user, so an agent that serves several gets one of these for each run.
    """

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation

    def get_instructions(self) -> Callable[[], str]:
        """Return a function, as a reload of the bundle may change the prompt."""
        return lambda: self.conversation.instructions

    def get_toolset(self) -> OctocToolset:
        return OctocToolset(self.conversation)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Shorten and repair the messages of this request; the run's own history stays as it is."""
        request_context.messages = await shortened(self.conversation, list(request_context.messages))
        return request_context
