"""Shapes with `tool_calls` and a message of role `tool` for each result: OpenAI's chat, and Octopus's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from octoc.runtime.history.shapes.base import (
    SYSTEM_ROLES,
    Answer,
    Call,
    Message,
    as_dict,
    get,
    is_blank,
    json_text,
    listed,
    string,
    texts_in,
    with_text,
)


@attrs.frozen(kw_only=True)
class Chat:
    """Calls stand in `tool_calls` of the assistant's message, whose content may be null."""

    name: str
    wrapped: bool
    """A call's name and arguments stand in an object of their own, named after the call's type."""
    starts_with_user: bool = False
    one_turn_is_many: bool = False
    answers_share_a_message: bool = False

    def is_evidence(self, message: Message) -> bool:
        for entry in listed(get(message, "tool_calls")):
            wrapped = bool(get(entry, "function") or get(entry, "custom"))
            return wrapped if self.wrapped else not wrapped and bool(get(entry, "name"))
        return self.wrapped and any(
            get(part, "type") in {"image_url", "input_audio", "file"} for part in listed(get(message, "content"))
        )

    def is_system(self, message: Message) -> bool:
        return get(message, "role") in SYSTEM_ROLES

    def is_models(self, message: Message) -> bool:
        return bool(get(message, "role") == "assistant")

    def is_users_own(self, message: Message) -> bool:
        return bool(get(message, "role") == "user")

    def is_empty(self, message: Message) -> bool:
        said = (get(message, "tool_calls"), get(message, "refusal"), get(message, "audio"))
        return get(message, "role") != "tool" and is_blank(get(message, "content")) and not any(said)

    def calls(self, message: Message) -> Sequence[Call]:
        return [self._call(entry) for entry in listed(get(message, "tool_calls"))]

    def answers(self, message: Message) -> Sequence[Answer]:
        if get(message, "role") != "tool":
            return []
        text = "\n".join(texts_in(get(message, "content")))
        return [Answer(id=string(message, "tool_call_id"), text=text, raw=message)]

    def texts(self, message: Message) -> Iterator[str]:
        yield from texts_in(get(message, "content"))
        for call in self.calls(message):
            yield call.text

    def answers_stand(self, message: Message) -> bool:
        return True

    def written(self, text: str) -> Message:
        return {"role": "user", "content": text}

    def with_calls(self, message: Message, calls: Sequence[Call]) -> Message | None:
        if get(message, "role") == "tool":
            return None
        entries = listed(get(message, "tool_calls"))
        left = list(calls)
        kept = []
        for entry in entries:
            if left and left[0].raw is entry:
                name = left.pop(0).id
                kept.append(entry if string(entry, "id") == name else {**as_dict(entry), "id": name})
        # An API refuses an empty list of calls, though it takes none at all.
        unlisted = not entries and get(message, "tool_calls") is not None
        if (
            not unlisted
            and len(kept) == len(entries)
            and all(one is other for one, other in zip(kept, entries, strict=True))
        ):
            return message
        changed = {**as_dict(message), "tool_calls": kept}
        if not kept:
            del changed["tool_calls"]
            if self.is_empty(changed):
                return None
        return changed

    def answer_of(self, call: Call, text: str) -> Answer:
        return Answer(id=call.id, text=text, raw={"role": "tool", "tool_call_id": call.id, "content": text})

    def with_answers(self, answers: Sequence[Answer]) -> list[Message]:
        return [
            one.raw if string(one.raw, "tool_call_id") == one.id else {**as_dict(one.raw), "tool_call_id": one.id}
            for one in answers
        ]

    def with_texts(self, message: Message, texts: Mapping[int, str]) -> Message:
        changed = as_dict(message)
        changed["content"] = with_text(changed.get("content"), texts[0])
        return changed

    def settled(self, messages: list[Message]) -> list[Message]:
        return messages

    def _call(self, entry: Any) -> Call:
        inner = entry
        if self.wrapped:
            inner = get(entry, "function") or get(entry, "custom") or {}
        name = string(inner, "name")
        given = get(inner, "arguments") if self.wrapped else get(inner, "input")
        if given is None:
            given = get(inner, "input") or ""
        return Call(id=string(entry, "id"), name=name, text=name + json_text(given), raw=entry)


OPENAI = Chat(name="openai", wrapped=True)
OCTOPUS = Chat(name="octopus", wrapped=False)
