"""Moving old, long results out of the conversation: their head stays, the whole is kept under a handle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from octoc.runtime.history.groups import matched
from octoc.runtime.history.shapes.base import Message, Shape
from octoc.runtime.results.parts import read_call

RECENT_MESSAGES = 10
"""Results in the last ten messages are left alone. Source: Octo."""
LONGEST_OLD_RESULT = 4_000
"""Characters of an older result that are no reason to move it. Source: Octo."""
HEAD = 3_800
"""Characters that stay of it: with the notice fewer than make a result move again. Source: Octo."""

Keep = Callable[[str, str], str | None]
"""Gets a result's whole text and its tool's name; returns the handle that it is kept under, None when it is not."""


@attrs.frozen(kw_only=True)
class Aged:
    """A conversation whose old, long results are short. `handles` says by call id where each whole one is kept.

    `unkept` are the ids of those that the store did not take: they stay as long as they were.
    """

    messages: list[Any]
    handles: Mapping[str, str] = attrs.field(factory=dict)
    unkept: tuple[str, ...] = ()


def age(messages: Sequence[Message], shape: Shape, keep: Keep, *, profile: str = "octoc") -> Aged:
    """Replace results of more than 4,000 characters before the last ten messages by a head and a handle.

    Each stays the result of its call, and ageing again changes nothing. Parts that are no text, as images, stay.
    """
    old = range(max(len(messages) - RECENT_MESSAGES, 0))
    long = {
        index
        for index in old
        if any(len(answer.text) > LONGEST_OLD_RESULT for answer in shape.answers(messages[index]))
    }
    if not long:
        return Aged(messages=list(messages))
    names = {id(placed.answer.raw): call.call.name for call in matched(messages, shape)[0] for placed in call.answers}
    out = list(messages)
    handles: dict[str, str] = {}
    unkept: list[str] = []
    for index in sorted(long):
        texts: dict[int, str] = {}
        for number, answer in enumerate(shape.answers(messages[index])):
            if len(answer.text) <= LONGEST_OLD_RESULT:
                continue
            handle = keep(answer.text, names.get(id(answer.raw), ""))
            if handle is None:
                unkept.append(answer.id)
                continue
            handles[answer.id] = handle
            texts[number] = _shortened(answer.text, handle, profile)
        if texts:
            out[index] = shape.with_texts(messages[index], texts)
    return Aged(messages=out, handles=handles, unkept=tuple(unkept))


def _shortened(text: str, handle: str, profile: str) -> str:
    # A handle so long that the notice would make the result move again costs some of the head.
    shown = min(HEAD, LONGEST_OLD_RESULT - len(_notice(HEAD, len(text), handle, profile)))
    return text[: max(shown, 0)] + _notice(max(shown, 0), len(text), handle, profile)


def _notice(shown: int, total: int, handle: str, profile: str) -> str:
    if profile == "octo":
        return f"\n\n... [truncated — full result ({total:,} chars) saved to: {handle}]"
    read_on = read_call(handle, offset=shown)
    return f"\n\n[octoc: an old result, {shown:,} of {total:,} characters; read on with {read_on}]"
