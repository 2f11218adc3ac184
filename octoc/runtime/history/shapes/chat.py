"""Shapes with `tool_calls` and a message of role `tool` for each result: OpenAI's chat, and Octopus's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from octoc.runtime.history.shapes.base import Call, Message, MessageResult, Shape, is_blank, texts_in, with_text
from octoc.runtime.history.shapes.fields import as_dict, get, json_text, listed, string, with_string


@attrs.frozen(kw_only=True)
class Chat(Shape):
    """Calls stand in `tool_calls` of the assistant's message, whose content may be null.

    Args:
        wrapped: a call's name and arguments stand in an object of their own, named after the call's type.
    """

    wrapped: bool

    def is_evidence(self, message: Message) -> bool:
        for entry in listed(get(message, "tool_calls")):
            wrapped = bool(get(entry, "function") or get(entry, "custom"))
            return wrapped if self.wrapped else not wrapped and bool(get(entry, "name"))
        return self.wrapped and any(
            get(part, "type") in {"image_url", "input_audio", "file"} for part in listed(get(message, "content"))
        )

    def is_empty(self, message: Message) -> bool:
        other = any(get(message, key) for key in ("tool_calls", "refusal", "audio"))
        return get(message, "role") != "tool" and is_blank(get(message, "content")) and not other

    def calls(self, message: Message) -> Sequence[Call]:
        return [self._call(entry) for entry in listed(get(message, "tool_calls"))]

    def answers(self, message: Message) -> Sequence[MessageResult]:
        if get(message, "role") != "tool":
            return []
        text = "\n".join(texts_in(get(message, "content")))
        return [MessageResult(id=string(message, "tool_call_id"), text=text, raw=message)]

    def texts(self, message: Message) -> Iterator[str]:
        yield from texts_in(get(message, "content"))
        for call in self.calls(message):
            yield call.text

    def with_calls(self, message: Message, calls: Sequence[Call]) -> Message | None:
        if get(message, "role") == "tool":
            return None
        entries = listed(get(message, "tool_calls"))
        left = list(calls)
        kept = [with_string(one, "id", left.pop(0).id) for one in entries if left and left[0].raw is one]
        # An API refuses an empty list of calls, but accepts a message without one.
        unlisted = not entries and get(message, "tool_calls") is not None
        if not unlisted and list(map(id, kept)) == list(map(id, entries)):
            return message
        changed = {**as_dict(message), "tool_calls": kept}
        if not kept:
            del changed["tool_calls"]
            if self.is_empty(changed):
                return None
        return changed

    def answer_of(self, call: Call, text: str) -> MessageResult:
        return MessageResult(id=call.id, text=text, raw={"role": "tool", "tool_call_id": call.id, "content": text})

    def with_answers(self, answers: Sequence[MessageResult]) -> list[Message]:
        return [with_string(one.raw, "tool_call_id", one.id) for one in answers]

    def with_texts(self, message: Message, texts: Mapping[int, str]) -> Message:
        changed = as_dict(message)
        changed["content"] = with_text(changed.get("content"), texts[0])
        return changed

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
