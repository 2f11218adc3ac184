"""The parts of a result: the texts that count against a limit, the stored texts, and the notice of a cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from octoc.results import ContentPart, ToolResult, Truncation
from octoc.runtime.results.json_cut import whole

STAGE = "result"
"""The stage under which a cut is recorded; a result that carries it is not cut again."""
MEDIA_STAGE = "media"
TRANSPORT_STAGE = "transport"
RESOURCE_TEXT = "/resource/text"
LARGE_CHARS = 1024 * 1024
"""A longer result is cut in a thread, as reading its JSON takes milliseconds."""
_CHARS_PER_VALUE = 200
"""Many small values take as long as a long text."""

MAX_NOTICE_CHARS = 256
"""Longest notice, which is added to a limit."""
LONGEST_POINTER = 48
"""Longest JSON pointer in a notice, which leaves room for the rest."""
READ_RESULT = "read_result"

Keep = Callable[[tuple[str, ...]], str | None]
"""Stores the texts of a result's parts and returns their handle, or None."""


def resource_text(part: ContentPart) -> str | None:
    """Return the text of an embedded resource that is text, or None."""
    resource = (part.data or {}).get("resource") if part.type == "resource" else None
    text = resource.get("text") if isinstance(resource, Mapping) else None
    return text if isinstance(text, str) else None


def text_of(part: ContentPart) -> str | None:
    """Return the text of a part that a model reads: its own, or that of its embedded resource."""
    return part.text if part.text is not None else resource_text(part)


def with_text(part: ContentPart, text: str) -> ContentPart:
    """Return `part` with `text` in place of its text."""
    if part.text is None and part.data is not None:
        return attrs.evolve(part, data={**part.data, "resource": {**part.data["resource"], "text": text}})
    # The wire object repeats the whole text.
    return attrs.evolve(part, text=text, data=None if part.data is None else {**part.data, "text": text})


def media_of(part: ContentPart) -> tuple[str, int] | None:
    """Return the type of an image, audio or blob, and its size in bytes of base64 text; None for any other part."""
    data: Any = part.data or {}
    if part.type == "resource" and isinstance(data.get("resource"), Mapping):
        data = data["resource"]
    base64 = data.get("blob") if part.type == "resource" else data.get("data")
    if part.text is not None or not isinstance(base64, str):
        return None
    return str(data.get("mimeType") or part.type), len(base64)


def document_of(result: ToolResult) -> tuple[str, ...]:
    """Return the texts from which every byte of a result can be read: one per part, then the structured content.

    A text part gives its text; any other part, and the structured content, gives its JSON.
    """
    texts = [part.text if part.text is not None else whole(part.data or {}) for part in result.content]
    if result.structured is not None:
        texts.append(whole(result.structured))
    return tuple(texts)


def is_large(result: ToolResult) -> bool:
    """Return whether cutting a result would block the event loop for long; reads only a part of the result."""
    size = sum(len(text) for part in result.content if (text := text_of(part)) is not None)
    return size > LARGE_CHARS or (result.structured is not None and _outweighs(result.structured, LARGE_CHARS))


def _outweighs(value: Any, chars: int) -> bool:
    """Return whether a JSON value is longer than `chars`, where a number or key counts as 200 characters."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        chars -= len(value) if isinstance(value, str) else _CHARS_PER_VALUE
        if chars < 0:
            return True
        if isinstance(value, Mapping):
            chars -= _CHARS_PER_VALUE * len(value)
            if chars < 0:
                return True
            waiting += value.values()
        elif isinstance(value, (list, tuple)):
            if chars < _CHARS_PER_VALUE * len(value):
                return True
            waiting += value
    return False


def transport_cut(result: ToolResult) -> Truncation | None:
    """Return the record of a cut by the transport, or None."""
    return next((cut for cut in result.truncations if cut.stage == TRANSPORT_STAGE), None)


def read_call(handle: str, **arguments: str | int) -> str:
    """Return the call of `read_result` that reads on, without arguments that have their default."""
    given = [f'handle="{handle}"']
    for name, value in arguments.items():
        if value != 0:
            given.append(f"{name}={json.dumps(value, ensure_ascii=False)}")
    return f"{READ_RESULT}({', '.join(given)})"


def notice(facts: Iterable[str], details: Iterable[str] = (), advice: Sequence[str] = ()) -> ContentPart:
    """Return a notice: all facts, the details that fit, and the first advice that fits, or the last one."""
    text = "; ".join(facts)
    room = MAX_NOTICE_CHARS - len("[octoc: ]") - len(text) - 2
    if advice:
        chosen = next((one for one in advice if len(one) <= room), advice[-1])
        room -= len(chosen) + 2
    for detail in details:
        room -= len(detail) + 2
        if room < 0:
            break
        text = f"{text}; {detail}" if text else detail
    if advice:
        text = f"{text}; {chosen}" if text else chosen
    return ContentPart(type="text", text=f"[octoc: {text}]")
