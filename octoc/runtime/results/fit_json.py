"""Profile `octoc`: JSON is cut as JSON, text at the end of a line, media by their own cap; the notice is a part."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from octoc.choices import KeptPart
from octoc.results import ContentPart, ToolResult, Truncation
from octoc.runtime.results.json_cut import JsonCutter, Omission, parse_container, whole
from octoc.runtime.results.limits import ResultLimits
from octoc.runtime.results.parts import (
    LONGEST_POINTER,
    MEDIA_STAGE,
    RESOURCE_TEXT,
    STAGE,
    Keep,
    document_of,
    media_of,
    notice,
    read_call,
    text_of,
    transport_cut,
    with_text,
)

if TYPE_CHECKING:
    from octoc.plugin import TokenCounter

GAP = "\n[…]\n"
"""The mark for the missing middle of a text whose two ends are kept."""
_LINE_SLACK = 50
"""The end of a line is used within this part of the room."""

Built = TypeVar("Built")


@attrs.define
class _Shortened:
    """The parts of a result after they were cut to a number of characters."""

    parts: dict[int, ContentPart] = attrs.field(factory=dict)
    kept: int = 0
    gone: int = 0
    cut: int | None = None
    where: dict[str, str | int] = attrs.field(factory=dict)
    omissions: tuple[Omission, ...] = ()
    media: list[Truncation] = attrs.field(factory=list)

    @property
    def content(self) -> tuple[ContentPart, ...]:
        return tuple(self.parts[index] for index in sorted(self.parts))

    @property
    def text(self) -> str:
        return "\n".join(text for part in self.content if (text := text_of(part)) is not None)


def cut_sampled(result: ToolResult, limits: ResultLimits, counter: TokenCounter, keep: Keep | None) -> ToolResult:
    """Return `result` within the limits, plus one notice if anything is missing.

    The limits apply to all text parts together, with line breaks between them, and separately to structured content.
    """
    fits_parts = _fits(result, limits, counter)
    structured_text = None if result.structured is None else _within(result.structured, limits, counter)
    fits_structured = result.structured is None or structured_text is not None
    dropped = transport_cut(result)
    if fits_parts and fits_structured and dropped is None:
        return result
    document = None if fits_parts and fits_structured else document_of(result)
    handle = keep(document) if keep is not None and document is not None else None
    total = sum(_cost(part) for part in result.content if media_of(part) is None)
    made = _Shortened(dict(enumerate(result.content)), kept=total)
    if not fits_parts:
        builder = _Builder(result, limits, handle)
        made = _tightened(builder.build, lambda made: made.text, limits, counter)
    facts = [f"kept {made.kept:,} of {total:,} characters"] if total else []
    details = [f"{made.gone} of {len(result.content)} parts left out"] if made.gone else []
    if made.media:
        details.append(f"{len(made.media)} media replaced")
    structured, omissions, where = result.structured, made.omissions, made.where
    record = Truncation(stage=STAGE, original=total, kept=made.kept, unit="chars")
    if not fits_structured:
        text, omitted = _structured(result.structured, limits, counter)
        structured = None if text is None else json.loads(text)
        size = len(document[-1]) if document else 0
        facts.append(f"structured content {len(text or ''):,} of {size:,}")
        if made.cut is None and not made.gone:
            omissions, where = omitted, _where(len(result.content), omitted)
        record = attrs.evolve(record, original=total + size, kept=made.kept + len(text or ""))
    if dropped is not None:
        facts.append(f"the server's answer was cut to {dropped.kept:,} of {dropped.original:,} bytes")
    details += [_described(omission) for omission in omissions if len(omission.pointer) <= LONGEST_POINTER]
    advice = [] if handle is None else [f"{read_call(handle, **where)} continues", f"{read_call(handle)} has it all"]
    return attrs.evolve(
        result,
        content=(*made.content, notice(facts, details, advice)),
        structured=structured,
        truncations=(*result.truncations, *made.media, record),
        handle=handle,
    )


class _Builder:
    """Cuts the parts of a result to a number of characters; parses each JSON text once."""

    def __init__(self, result: ToolResult, limits: ResultLimits, handle: str | None) -> None:
        self._result = result
        self._limits = limits
        self._handle = handle
        self._parsed: dict[int, Any] = {}

    def build(self, room: int) -> _Shortened:
        """Return the parts in order (from the last one with `keep = "tail"`) until one must be cut."""
        made = _Shortened()
        content = self._result.content
        full, line = False, 0
        for index in reversed(range(len(content))) if self._limits.keep == "tail" else range(len(content)):
            part = self._replaced(index, made)
            if part is None:
                made.parts[index] = content[index]
                continue
            cost = _cost(part) + line
            if not full and cost <= room:
                made.parts[index] = part
                made.kept += 0 if media_of(content[index]) else cost - line
                room, line = room - cost, 1
                continue
            cut = None if full or part is not content[index] else self._cut(index, room - line, made)
            full = True
            if cut is None:
                made.gone += 1
                if not made.where and made.cut is None:
                    made.where = {"part": index}
            else:
                made.parts[index] = cut
        return made

    def _replaced(self, index: int, made: _Shortened) -> ContentPart | None:
        """Return the part that counts as text: itself, or the line that replaces media over their cap; else None."""
        part = self._result.content[index]
        media = media_of(part)
        if media is None:
            return part
        kind, size = media
        if size <= self._limits.max_media_bytes:
            return None
        made.media.append(Truncation(stage=MEDIA_STAGE, original=size, kept=0, unit="bytes"))
        where = "" if self._handle is None else f": {read_call(self._handle, part=index)}"
        return ContentPart(type="text", text=f"[{kind[:60]}, {size:,} bytes of base64, left out{where}]")

    def _cut(self, index: int, room: int, made: _Shortened) -> ContentPart | None:
        part = self._result.content[index]
        text = text_of(part)
        if text is None or room < 1:
            return None
        if index not in self._parsed:
            self._parsed[index] = parse_container(text)
        value = self._parsed[index]
        made.cut = index
        if value is not None:
            cutter = JsonCutter(self._limits.keep)
            shown = cutter.cut(value, room)
            made.omissions = tuple(cutter.omissions)
            made.where = _where(index, made.omissions)
        else:
            shown, next_offset = cut_text(text, room, self._limits.keep)
            made.where = {"part": index, "offset": next_offset}
        if part.text is None:
            # The store has the JSON of the whole part.
            made.where = {"part": index, "json_pointer": RESOURCE_TEXT, "offset": made.where.get("offset", 0)}
        if not shown:
            made.cut = None
            made.where = {"part": index}
            return None
        made.kept += len(shown)
        return with_text(part, shown)


def cut_text(text: str, room: int, keep: KeptPart) -> tuple[str, int]:
    """Return at most `room` characters of a longer text, and the offset of the first missing one.

    The cut is at the end of a line if one is near.
    """
    if keep == "tail":
        start = len(text) - room
        line = text.find("\n", start, start + room // _LINE_SLACK)
        return text[start if line < 0 else line + 1 :], 0
    if keep == "both" and room > 2 * len(GAP):
        head = (room - len(GAP)) // 2
        tail = room - len(GAP) - head
        return f"{text[:head]}{GAP}{text[len(text) - tail :]}", head
    line = text.rfind("\n", room - room // _LINE_SLACK, room)
    end = room if line < 0 else line + 1
    return text[:end], end


def _fits(result: ToolResult, limits: ResultLimits, counter: TokenCounter) -> bool:
    texts = []
    length = -1
    for part in result.content:
        media = media_of(part)
        if media is None:
            length += _cost(part) + 1
            texts.append(text_of(part) or "")
        elif media[1] > limits.max_media_bytes:
            return False
    if length > limits.max_chars:
        return False
    return not limits.tokens or not texts or counter.count("\n".join(texts)) <= limits.tokens


def _cost(part: ContentPart) -> int:
    text = text_of(part)
    return len(whole(part.data or {})) if text is None else len(text)


def _within(value: Any, limits: ResultLimits, counter: TokenCounter) -> str | None:
    text = whole(value)
    return None if len(text) > limits.max_chars or (limits.tokens and counter.count(text) > limits.tokens) else text


def _structured(value: Any, limits: ResultLimits, counter: TokenCounter) -> tuple[str | None, tuple[Omission, ...]]:
    def build(room: int) -> tuple[str | None, tuple[Omission, ...]]:
        cutter = JsonCutter(limits.keep)
        # MCP's structured content is an object, so a program could not use a string in its place.
        text = cutter.cut(value, room) if isinstance(value, (dict, list, tuple)) else None
        return text, tuple(cutter.omissions)

    return _tightened(build, lambda built: built[0] or "", limits, counter)


def _tightened(
    build: Callable[[int], Built], text_in: Callable[[Built], str], limits: ResultLimits, counter: TokenCounter
) -> Built:
    """Return the value that `build` makes within the limits of characters and tokens."""
    room = limits.max_chars
    while True:
        built = build(room)
        text = text_in(built)
        tokens = counter.count(text) if limits.tokens and text else 0
        if tokens <= limits.tokens or room <= 0:
            return built
        room = min(room - 1, len(text) * limits.tokens // tokens)


def _where(part: int, omissions: tuple[Omission, ...]) -> dict[str, str | int]:
    """Return the arguments of `read_result` to read on at the first cut container, or else at the first cut string."""
    for omission in sorted(omissions, key=lambda omission: omission.unit == "characters"):
        if len(omission.pointer) <= LONGEST_POINTER:
            return {"part": part, "json_pointer": omission.pointer, "offset": omission.first}
    return {"part": part}


def _described(omission: Omission) -> str:
    return f"{omission.pointer or 'top level'}: {omission.kept:,} of {omission.total:,} {omission.unit}"
