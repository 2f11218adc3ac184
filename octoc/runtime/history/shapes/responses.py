"""The items of OpenAI's Responses API: each message, call, result and piece of reasoning is an item of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from octoc.runtime.history.shapes.base import Call, Message, MessageResult, Shape, is_blank, texts_in, with_text
from octoc.runtime.history.shapes.fields import as_dict, get, json_text, listed, string, with_string

_APPROVAL, _APPROVED = "mcp_approval_request", "mcp_approval_response"
_OUTPUT = "_call_output"
_FOREIGN_BLOCKS = frozenset({"text", "tool_use", "tool_result", "thinking", "redacted_thinking"})


@attrs.frozen(kw_only=True)
class Responses(Shape):
    """A call is an item with a `call_id`; its result is an item of the type `…_call_output` with the same id."""

    name: str = "openai-responses"
    one_turn_is_many: bool = True

    def is_evidence(self, message: Message) -> bool:
        kind = string(message, "type")
        parts = {get(part, "type") for part in listed(get(message, "content"))}
        if kind == "message" or (not kind and parts & {"input_text", "output_text"}):
            # Anthropic's replies have the type `message` too.
            return not parts & _FOREIGN_BLOCKS
        return kind in {"reasoning", "item_reference", _APPROVAL, _APPROVED} or kind.endswith(("_call", _OUTPUT))

    def is_models(self, message: Message) -> bool:
        kind = string(message, "type")
        return super().is_models(message) or kind in {"reasoning", _APPROVAL} or kind.endswith("_call")

    def is_empty(self, message: Message) -> bool:
        return get(message, "role") is not None and is_blank(get(message, "content"))

    def calls(self, message: Message) -> Sequence[Call]:
        kind = string(message, "type")
        # A call that the provider runs itself, such as `web_search_call`, has no `call_id` and no result.
        if kind != "function_call" and not (kind.endswith("_call") and string(message, "call_id")):
            return [_call(message, "id")] if kind == _APPROVAL else []
        return [_call(message, "call_id")]

    def answers(self, message: Message) -> Sequence[MessageResult]:
        kind = string(message, "type")
        if not kind.endswith(_OUTPUT) and kind != _APPROVED:
            return []
        text = "\n".join(texts_in(get(message, "output")))
        return [MessageResult(id=string(message, _id_key(message)), text=text, raw=message)]

    def texts(self, message: Message) -> Iterator[str]:
        for key in ("content", "summary", "output"):
            yield from texts_in(get(message, key))
        for call in self.calls(message):
            yield call.text

    def written(self, text: str) -> Message:
        return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}

    def with_calls(self, message: Message, calls: Sequence[Call]) -> Message | None:
        if self.answers(message):
            return None
        if not self.calls(message):
            return message
        if not calls:
            return None
        key = "id" if string(message, "type") == _APPROVAL else "call_id"
        return with_string(message, key, calls[0].id)

    def answer_of(self, call: Call, text: str) -> MessageResult:
        kind = string(call.raw, "type")
        if kind == _APPROVAL:
            raw = {"type": _APPROVED, "approval_request_id": call.id, "approve": False, "reason": text}
        else:
            raw = {"type": f"{kind}_output", "call_id": call.id, "output": text}
        return MessageResult(id=call.id, text=text, raw=raw)

    def with_answers(self, answers: Sequence[MessageResult]) -> list[Message]:
        return [with_string(one.raw, _id_key(one.raw), one.id) for one in answers]

    def with_texts(self, message: Message, texts: Mapping[int, str]) -> Message:
        changed = as_dict(message)
        changed["output"] = with_text(changed.get("output"), texts[0], "input_text")
        return changed

    def settled(self, messages: list[Message]) -> list[Message]:
        # The API refuses reasoning without the item that follows from it.
        kept: list[Message] = []
        led_on = False
        for message in reversed(messages):
            if string(message, "type") != "reasoning":
                led_on = self.is_models(message)
            elif not led_on:
                continue
            kept.append(message)
        return kept[::-1]


def _id_key(message: Message) -> str:
    return "approval_request_id" if string(message, "type") == _APPROVED else "call_id"


def _call(message: Message, key: str) -> Call:
    name = string(message, "name")
    given: Any = next((get(message, one) for one in ("arguments", "input", "action") if get(message, one)), "")
    return Call(id=string(message, key), name=name, text=name + json_text(given), raw=message)


RESPONSES = Responses()
