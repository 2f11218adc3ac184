"""Shapes with content blocks: Anthropic's, and MCP's as in sampling."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs

from octoc.runtime.history.shapes.base import Call, Message, MessageResult, Shape, is_blank, texts_in, with_text
from octoc.runtime.history.shapes.fields import as_dict, get, json_text, listed, string, with_string

_THINKING = frozenset({"thinking", "redacted_thinking"})


@attrs.frozen(kw_only=True)
class Blocks(Shape):
    """Calls are `tool_use` blocks of the assistant, results `tool_result` blocks in the user's next message.

    Args:
        result_key: the field in which a result names its call.
        error_key: the field that marks a result as an error.
        results_alone: a message with results has only results.
    """

    result_key: str
    error_key: str
    results_alone: bool
    answers_share_a_message: bool = True

    def is_evidence(self, message: Message) -> bool:
        content = get(message, "content")
        if isinstance(content, Mapping):
            return self.results_alone
        for block in listed(content):
            if _is(block, "tool_result"):
                return bool(string(block, self.result_key))
            if get(block, "mimeType") is not None:
                return self.results_alone
            if get(block, "type") in _THINKING or get(block, "source") is not None:
                return not self.results_alone
        return False

    def is_users_own(self, message: Message) -> bool:
        if get(message, "role") != "user":
            return False
        blocks = _blocks(message)
        return not blocks or not all(_is(block, "tool_result") for block in blocks)

    def is_empty(self, message: Message) -> bool:
        return is_blank(get(message, "content"))

    def calls(self, message: Message) -> Sequence[Call]:
        return [_call(block) for block in _blocks(message) if _is(block, "tool_use")]

    def answers(self, message: Message) -> Sequence[MessageResult]:
        return [self._answer(block) for block in _blocks(message) if _is(block, "tool_result")]

    def texts(self, message: Message) -> Iterator[str]:
        content = get(message, "content")
        if isinstance(content, str):
            yield content
        for block in _blocks(message):
            if _is(block, "tool_use"):
                yield _call(block).text
            elif _is(block, "tool_result"):
                yield self._answer(block).text
            else:
                yield from texts_in([block])

    def answers_stand(self, message: Message) -> bool:
        kinds = [_is(block, "tool_result") for block in _blocks(message)]
        return all(kinds) if self.results_alone else kinds == sorted(kinds, reverse=True)

    def written(self, text: str) -> Message:
        return {"role": "user", "content": [{"type": "text", "text": text}] if self.results_alone else text}

    def with_calls(self, message: Message, calls: Sequence[Call]) -> Message | None:
        blocks = _blocks(message)
        left = list(calls)
        kept: list[Any] = []
        for block in blocks:
            if _is(block, "tool_use"):
                if left and left[0].raw is block:
                    kept.append(with_string(block, "id", left.pop(0).id))
            elif not _is(block, "tool_result"):
                kept.append(block)
        if list(map(id, kept)) == list(map(id, blocks)):
            return message
        # No API accepts the reasoning before a call without the call.
        if all(get(block, "type") in _THINKING for block in kept):
            return None
        return {**as_dict(message), "content": kept}

    def answer_of(self, call: Call, text: str) -> MessageResult:
        content: Any = [{"type": "text", "text": text}] if self.results_alone else text
        raw = {"type": "tool_result", self.result_key: call.id, "content": content, self.error_key: True}
        return MessageResult(id=call.id, text=text, raw=raw)

    def with_answers(self, answers: Sequence[MessageResult]) -> list[Message]:
        blocks = [
            one.raw if self._id(one.raw) == one.id else {**as_dict(one.raw), self.result_key: one.id} for one in answers
        ]
        return [{"role": "user", "content": blocks}] if blocks else []

    def with_texts(self, message: Message, texts: Mapping[int, str]) -> Message:
        blocks = list(_blocks(message))
        places = [place for place, block in enumerate(blocks) if _is(block, "tool_result")]
        for number, text in texts.items():
            block = as_dict(blocks[places[number]])
            block["content"] = with_text(block.get("content"), text)
            # It repeats the text as JSON, so the result would stay as long as it was.
            block.pop("structuredContent", None)
            blocks[places[number]] = block
        return {**as_dict(message), "content": blocks}

    def _answer(self, block: Any) -> MessageResult:
        text = "\n".join(texts_in(get(block, "content")))
        structured = get(block, "structuredContent")
        if not text and structured is not None:
            text = json_text(structured)
        return MessageResult(id=self._id(block), text=text, raw=block)

    def _id(self, block: Any) -> str:
        # MCP's own SDK has the field in snake case.
        return string(block, self.result_key) or ("" if isinstance(block, Mapping) else string(block, "tool_use_id"))


def _blocks(message: Message) -> tuple[Any, ...]:
    return listed(get(message, "content"))


def _is(block: Any, kind: str) -> bool:
    return bool(get(block, "type") == kind)


def _call(block: Any) -> Call:
    name = string(block, "name")
    return Call(id=string(block, "id"), name=name, text=name + json_text(get(block, "input") or {}), raw=block)


ANTHROPIC = Blocks(
    name="anthropic", result_key="tool_use_id", error_key="is_error", starts_with_user=True, results_alone=False
)
MCP = Blocks(name="mcp", result_key="toolUseId", error_key="isError", results_alone=True)
