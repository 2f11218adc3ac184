"""What every shape of a message list gives: one neutral view to read it by, and a few ways to write it back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import attrs

Message = Any
"""A message or item: a mapping, or an SDK's object with the same fields. Passed on as it is wherever it can be."""

SYSTEM_ROLES = frozenset({"system", "developer"})


@attrs.frozen(kw_only=True, eq=False)
class Call:
    """A call in a message. `text` is what it costs: the tool's name and its arguments. `raw` is its own block."""

    id: str
    name: str
    text: str
    raw: Any


@attrs.frozen(kw_only=True, eq=False)
class Answer:
    """A call's result in a message. `raw` is its own block, or the whole message where results have one each."""

    id: str
    text: str
    raw: Any


class Shape(Protocol):
    """One way to write a conversation down. To add one, write a class like those beside this file and name it there."""

    @property
    def name(self) -> str: ...

    @property
    def starts_with_user(self) -> bool:
        """The API wants a message of the user first."""
        ...

    @property
    def one_turn_is_many(self) -> bool:
        """What the model says in one turn may be several items, one after another, that only make sense together."""
        ...

    @property
    def answers_share_a_message(self) -> bool:
        """The results of one message's calls stand in one message."""
        ...

    def is_evidence(self, message: Message) -> bool:
        """Return whether only this shape has such a message."""
        ...

    def is_system(self, message: Message) -> bool: ...

    def is_models(self, message: Message) -> bool: ...

    def is_users_own(self, message: Message) -> bool:
        """Return whether a turn begins here: the user says something, instead of only bringing results."""
        ...

    def is_empty(self, message: Message) -> bool:
        """Return whether a message says nothing at all, which APIs refuse."""
        ...

    def calls(self, message: Message) -> Sequence[Call]: ...

    def answers(self, message: Message) -> Sequence[Answer]: ...

    def texts(self, message: Message) -> Iterator[str]:
        """Yield all that costs tokens: texts, calls with their arguments, results. Images count nothing."""
        ...

    def answers_stand(self, message: Message) -> bool:
        """Return whether the results in a message stand where the API wants them."""
        ...

    def written(self, text: str) -> Message:
        """Return a message of the user."""
        ...

    def with_calls(self, message: Message, calls: Sequence[Call]) -> Message | None:
        """Return a message without its results and with these of its calls; None when nothing is left of it."""
        ...

    def answer_of(self, call: Call, text: str) -> Answer:
        """Return a result for a call that has none."""
        ...

    def with_answers(self, answers: Sequence[Answer]) -> list[Message]:
        """Return the messages that bring these results."""
        ...

    def with_texts(self, message: Message, texts: Mapping[int, str]) -> Message:
        """Return a message whose n-th result says another text; what is no text in it stays."""
        ...

    def settled(self, messages: list[Message]) -> list[Message]:
        """Return the messages without those that only make sense before another one that is not there."""
        ...


def get(thing: Any, key: str) -> Any:
    """Return a field of a mapping or of an SDK's object, None when there is none."""
    return thing.get(key) if isinstance(thing, Mapping) else getattr(thing, key, None)


def string(thing: Any, key: str) -> str:
    """Return a field as text, empty when there is none."""
    value = get(thing, key)
    return "" if value is None else str(value)


def as_dict(thing: Any) -> dict[str, Any]:
    """Return a mapping or an SDK's object as a dict that can be changed."""
    if isinstance(thing, Mapping):
        return dict(thing)
    dump = getattr(thing, "model_dump", None)
    if callable(dump):
        return dict(dump(by_alias=True, exclude_unset=True))
    return dict(getattr(thing, "__dict__", {}))  # a number or the like, where an object was due, has no fields


def listed(value: Any) -> tuple[Any, ...]:
    """Return the entries of a list, one alone for an object, none for a text or nothing."""
    if isinstance(value, (list, tuple)):
        return tuple(value)
    return () if value is None or isinstance(value, str) else (value,)


def json_text(value: Any) -> str:
    """Return a value as JSON, for counting; a text is passed on."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def texts_in(content: Any) -> Iterator[str]:
    """Yield the texts of a content: itself, or the `text` of its parts."""
    if isinstance(content, str):
        yield content
        return
    for part in listed(content):
        text = part if isinstance(part, str) else get(part, "text")
        if isinstance(text, str):
            yield text


def with_text(content: Any, text: str, kind: str = "text") -> Any:
    """Return a content that says `text` instead of its own texts; parts that are none, as images, stay behind it."""
    if isinstance(content, str) or content is None:
        return text
    others = [part for part in listed(content) if not isinstance(part, str) and get(part, "text") is None]
    return [{"type": kind, "text": text}, *others]


def is_blank(content: Any) -> bool:
    """Return whether a content says nothing."""
    return content is None or (isinstance(content, (str, list, tuple)) and not content)
