"""The history of a conversation, shortened and repaired for one request; the framework's own list stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import attrs

from octoc.runtime.history import Message, Shape, age, repair
from octoc.runtime.history.repair import Repair
from octoc.runtime.history.shapes.base import texts_in
from octoc.runtime.history.shapes.fields import get
from octoc.runtime.results.fit import keep_aged

if TYPE_CHECKING:
    from octoc.runtime import Pruner, Session

NATIVE = "octoc_native"
"""The key of a converted message, or of a block in it, with the framework's own object."""

ToNeutral = Callable[[Any], Mapping[str, Any]]
"""Converts a framework's message to a shape; `shorten_native` adds the message itself under `NATIVE`."""
ToNative = Callable[[Mapping[str, Any], Any], Any]
"""Converts a changed or new message back; the second argument is the message that it was, None for a new one."""


@attrs.frozen(kw_only=True)
class ShortenedHistory:
    """The messages for one request.

    Args:
        messages: those to send; unchanged ones are the same objects as in the given list.
        repairs: what was repaired.
        aged: call id -> handle of each result that is now a head and a handle.
        dropped: how many messages were dropped to fit the budget.
        why_over: why the rest is still over the budget; empty if it fits, or without a budget.
    """

    messages: list[Any]
    repairs: tuple[Repair, ...] = ()
    aged: Mapping[str, str] = attrs.field(factory=dict)
    dropped: int = 0
    why_over: str = ""


class AgedResults:
    """Old results that a session stored. Each is stored once, as a history is shortened anew for each request."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._handles: dict[tuple[str, bytes], str] = {}

    def keep(self, text: str, name: str) -> str | None:
        """Return the handle of a result of the tool `name`, stored now if it is not stored already."""
        state = self._session.state
        key = (name, sha256(text.encode("utf-8", "surrogatepass")).digest())
        handle = self._handles.get(key)
        if handle is None or state.runtime.results.parts(state.number, handle) is None:
            handle = keep_aged(state, text, name)
            if handle is not None:
                self._handles[key] = handle
        return handle


async def shorten(
    session: Session,
    messages: Sequence[Message],
    shape: Shape,
    aged_results: AgedResults,
    *,
    budget_tokens: int | None,
    pruner: Pruner | None,
) -> ShortenedHistory:
    """Repair and age messages, and fit them into the budget, if there is one."""
    repaired = repair(messages, shape)
    aged = age(repaired.messages, shape, aged_results.keep, profile=session.profile)
    done = ShortenedHistory(messages=aged.messages, repairs=repaired.repairs, aged=aged.handles)
    if budget_tokens is None:
        return done
    fitted = await session.fit(aged.messages, budget_tokens=budget_tokens, pruner=pruner, format=shape.name)
    gone = sum(map(len, (*fitted.dropped, *fitted.summarized)))
    return attrs.evolve(done, messages=fitted.messages, dropped=gone, why_over=fitted.why_over)


def text_of(message: Message) -> str:
    """Return the texts of a message, one after another."""
    return "\n".join(texts_in(get(message, "content"))).strip()


def new_text(messages: Sequence[Message], shape: Shape) -> tuple[int, str] | None:
    """Return what the user said after the model's last message, with the number of its last part; None for nothing."""
    texts: list[str] = []
    last = -1
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if shape.is_models(message):
            break
        if shape.is_users_own(message):
            texts.append(text_of(message))
            last = max(last, index)
        if shape.answers(message):
            break
    text = "\n".join(reversed(texts)).strip()
    return (last, text) if text else None


def with_texts_after(
    messages: Sequence[Message], shape: Shape, added: Mapping[str, Sequence[str]]
) -> Sequence[Message]:
    """Return messages with texts as messages of the user, each after the last message of the user with a certain text.

    `added` has a message's text -> the texts to add after it. Texts of messages that are not there are left out.
    """
    if not added:
        return messages
    out: list[Message] = []
    left = dict(added)
    for message in reversed(messages):
        if shape.is_users_own(message):
            out += [shape.written(one) for one in reversed(left.pop(text_of(message), ()))]
        out.append(message)
    return out[::-1]


def converted(messages: Sequence[Any], to_neutral: ToNeutral) -> list[dict[str, Any]]:
    """Return a framework's messages in a neutral shape, each with the framework's own object."""
    return [{**to_neutral(message), NATIVE: message} for message in messages]


def converted_back(
    messages: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]], to_native: ToNative
) -> list[Any]:
    """Return neutral messages as the framework's; one that is still an object of `before` is the framework's own."""
    unchanged = {id(message) for message in before}
    return [
        message[NATIVE] if id(message) in unchanged else to_native(message, message.get(NATIVE)) for message in messages
    ]
