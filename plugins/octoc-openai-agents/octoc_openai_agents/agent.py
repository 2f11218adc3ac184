"""`OctocAgent`: an agent of the Agents SDK with the tools of a conversation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents import Agent, ItemHelpers, RunContextWrapper, Tool
from agents.run import CallModelData, ModelInputData

from octoc.adapters import Conversation
from octoc_openai_agents.tools import function_tools

_SHAPE = "openai-responses"


@dataclass
class OctocAgent(Agent[Any]):
    """An agent with the tools of a conversation of octoc, beside its own.

    Each request has the tools that are present then. From release 0.23 on, a run routes the user's message before its
    first request; with earlier ones, call `take` before the run.
    Without `instructions`, the agent has the prompt and the section on servers of the conversation's agent.

    Args:
        conversation: the conversation, or a function from the run's context to it.
    """

    conversation: Conversation | Callable[[Any], Conversation] | None = None

    def conversation_of(self, context: Any) -> Conversation:
        """Return the conversation of a run with this context. Raises: ValueError if the agent was given none."""
        if self.conversation is None:
            raise ValueError(f"agent `{self.name}` has no conversation: give `OctocAgent` one")
        return self.conversation if isinstance(self.conversation, Conversation) else self.conversation(context)

    async def take(self, message: str | list[Any], context: Any = None) -> None:
        """Route the user's message before a run, for releases before 0.23, whose runs ask for tools too early.

        Args:
            message: the input of the run.
            context: the context of the run.
        """
        items = ItemHelpers.input_to_new_input_list(message)
        await self.conversation_of(context).take(items, _SHAPE)

    async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Tool]:
        """Return the agent's own tools, and those of the conversation after the user's message is routed."""
        conversation = self.conversation_of(run_context.context)
        await conversation.take(run_context.turn_input, _SHAPE)
        return [*await super().get_all_tools(run_context), *function_tools(conversation)]

    async def get_system_prompt(self, run_context: RunContextWrapper[Any]) -> str | None:
        """Return the agent's instructions, those of the conversation if it has none."""
        if self.instructions is not None:
            prompt: str | None = await super().get_system_prompt(run_context)
            return prompt
        return self.conversation_of(run_context.context).instructions or None


async def shorten_history(data: CallModelData[Any]) -> ModelInputData:
    """Repair, age and prune what an `OctocAgent` sends to its model: for `RunConfig(call_model_input_filter=…)`.

    Do not use it if the provider keeps the conversation (`conversation_id`, `previous_response_id`): requests then have
    results without their calls.
    """
    if not isinstance(data.agent, OctocAgent):
        return data.model_data
    conversation = data.agent.conversation_of(data.context)
    shortened = await conversation.shorten(data.model_data.input, _SHAPE)
    return ModelInputData(input=shortened.messages, instructions=data.model_data.instructions)
