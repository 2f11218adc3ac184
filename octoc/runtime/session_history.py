"""The methods of a session that shorten and repair a conversation, which its host keeps."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc.plugin import TokenCounter
    from octoc.runtime.history import AgedConversation, FittedConversation, Message, Pruner, RepairedConversation
    from octoc.runtime.state import SessionState

logger = logging.getLogger("octoc.runtime")


class SessionHistory:
    """A part of `Session`: conversations in the shapes of model APIs."""

    state: SessionState

    @property
    def counter(self) -> TokenCounter:
        """The token counter of this agent's model; its name identifies how figures were counted."""
        return self.state.counter

    @property
    def profile(self) -> str:
        """The profile of results and failures: `octoc`, `octo` or `octopus`."""
        return self.state.profile

    def prune(self, messages: Sequence[Message], *, budget_tokens: int) -> list[Message]:
        """Return the newest messages that fit the budget, as `fit` keeps them by default.

        A call keeps its result, and a result its call. If messages that must stay exceed the budget, that is logged.
        """
        from octoc.runtime.history import prune  # here and below: a host may keep its history itself

        fitted = prune(messages, budget_tokens, self.counter)
        if fitted.why_over:
            logger.warning("over the budget: %s", fitted.why_over)
        return fitted.messages

    async def fit(
        self,
        messages: Sequence[Message],
        *,
        budget_tokens: int,
        pruner: Pruner | None = None,
        keep_turns: int | None = None,
        format: str | None = None,  # noqa: A002  # the field's word
    ) -> FittedConversation:
        """Shorten a conversation to the budget with `pruner`, and return it with the changes and why it may not fit.

        Args:
            pruner: `Fifo()`, the default, `SlidingWindow(turns=…)` or `Summarize(summarizer=…)`.
            keep_turns: the user's last turns whose requests stay even over the budget, by default `KEEP_TURNS`.
            format: the shape of the messages, one of `SHAPES`; detected by default.

        Raises: ValueError for an unknown format.
        """
        from octoc.runtime.history import FIFO, KEEP_TURNS, fit, shape_of

        return await fit(
            messages,
            budget_tokens,
            self.counter,
            pruner=FIFO if pruner is None else pruner,
            keep_turns=KEEP_TURNS if keep_turns is None else keep_turns,
            shape=shape_of(messages, format),
        )

    def age(self, messages: Sequence[Message], *, format: str | None = None) -> AgedConversation:  # noqa: A002  # as above
        """Return the conversation with old, long results as a head and a handle, which `read_result` pages through.

        Results that cannot be stored, as with a store of size 0, stay as they are. Raises: ValueError for an unknown
        format.
        """
        from octoc.runtime.history import age, shape_of
        from octoc.runtime.results.fit import keep_aged

        return age(messages, shape_of(messages, format), partial(keep_aged, self.state), profile=self.profile)

    def repair(self, messages: Sequence[Message], *, format: str | None = None) -> RepairedConversation:  # noqa: A002  # as above
        """Return a stored or foreign conversation in a form that its API accepts, and the changes.

        A call without a result counts as interrupted. Raises: ValueError for an unknown format.
        """
        from octoc.runtime.history import repair, shape_of

        return repair(messages, shape_of(messages, format))
