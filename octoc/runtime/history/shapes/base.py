"""What every shape of a message list provides: one neutral view to read it, and ways to write it back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from octoc.runtime.history.shapes.fields import get, listed

Message = Any
"""A message or item: a mapping, or an SDK's object with the same fields. It is passed on unchanged where possible."""


@attrs.frozen(kw_only=True, eq=False)
class Call:
    """A call in a message. `text` is what is counted: the tool's name and its arguments. `raw` is its own block."""

    id: str
    name: str
    text: str
    raw: Any


@attrs.frozen(kw_only=True, eq=False)
class MessageResult:
    """A call's result in a message. `raw` is its own block, or the whole message if each result has a message."""

    id: str
    text: str
    raw: Any


@attrs.frozen(kw_only=True)
class Shape(ABC):
    """One way to write a conversation down. To add one, write a subclass in a file of its own and list it in `SHAPES`.

    Args:
        starts_with_user: the API wants a message of the user first.
        one_turn_is_many: one turn of the model may be several items in a row that only make sense together.
        answers_share_a_message: the results of one message's calls stand in one message.
    """

    name: str
    starts_with_user: bool = False
    one_turn_is_many: bool = False
    answers_share_a_message: bool = False

    @abstractmethod
    def is_evidence(self, message: Message) -> bool:
        """Return whether only this shape has such a message."""

    def is_system(self, message: Message) -> bool:
        return get(message, "role") in {"system", "developer"}

    def is_models(self, message: Message) -> bool:
        return bool(get(message, "role") == "assistant")

    def is_users_own(self, message: Message) -> bool:
        """Return whether a turn begins here: the user says something, instead of only bringing results."""
        return bool(get(message, "role") == "user")

    @abstractmethod
    def is_empty(self, message: Message) -> bool:
        """Return whether a message has no content at all, which APIs refuse."""

    @abstractmethod
    def calls(self, message: Message) -> Sequence[Call]: ...

    @abstractmethod
    def answers(self, message: Message) -> Sequence[MessageResult]: ...

    @abstractmethod
    def texts(self, message: Message) -> Iterator[str]:
        """Yield all that costs tokens: texts, calls with their arguments, results. Images count nothing."""

    def answers_stand(self, message: Message) -> bool:
        """Return whether the results in a message stand where the API wants them."""
        return True

    def written(self, text: str) -> Message:
        """Return a message of the user."""
        return {"role": "user", "content": text}

    @abstractmethod
    def with_calls(self, message: Message, calls: Sequence[Call]) -> Message | None:
        """Return a message without its results and with these of its calls; None if nothing is left of it."""

    @abstractmethod
    def answer_of(self, call: Call, text: str) -> MessageResult:
        """Return a result for a call that has none."""

    @abstractmethod
    def with_answers(self, answers: Sequence[MessageResult]) -> list[Message]:
        """Return the messages that bring these results."""

    @abstractmethod
    def with_texts(self, message: Message, texts: Mapping[int, str]) -> Message:
        """Return a message with `texts` in place of its results' texts, by position; images and the like stay."""

    def settled(self, messages: list[Message]) -> list[Message]:
        """Return the messages without those that only make sense before another one that is missing."""
        return messages


def texts_in(content: Any) -> Iterator[str]:
    """Yield the texts of a content: the content itself, or the `text` of its parts."""
    if isinstance(content, str):
        yield content
        return
    for part in listed(content):
        text = part if isinstance(part, str) else get(part, "text")
        if isinstance(text, str):
            yield text


def with_text(content: Any, text: str, kind: str = "text") -> Any:
    """Return a content with `text` in place of its texts; other parts, such as images, follow it."""
    if isinstance(content, str) or content is None:
        return text
    others = [part for part in listed(content) if not isinstance(part, str) and get(part, "text") is None]
    return [{"type": kind, "text": text}, *others]


def is_blank(content: Any) -> bool:
    """Return whether a content is empty."""
    return content is None or (isinstance(content, (str, list, tuple)) and not content)
