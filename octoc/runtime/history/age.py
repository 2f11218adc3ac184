"""Shorten old, long results of a conversation: their head stays, and the whole text is stored under a handle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs

from octoc.runtime.history.groups import matched
from octoc.runtime.history.shapes.base import Message, Shape
from octoc.runtime.results.parts import read_call

RECENT_MESSAGES = 10
"""Results in the last ten messages stay as they are. Source: Octo."""
LONGEST_OLD_RESULT = 4_000
"""An older result of at most this many characters stays as it is. Source: Octo."""
HEAD = 3_800
"""Characters that stay of a longer result, so that head and notice together are not shortened again. Source: Octo."""

Keep = Callable[[str, str], str | None]
"""Takes a result's whole text and its tool's name; returns the handle of the stored text, None if it is not stored."""


@attrs.frozen(kw_only=True)
class AgedConversation:
    """A conversation whose old, long results were shortened.

    Args:
        handles: call id -> handle of the whole result.
        unkept: ids of calls whose results the store did not take; these results were not shortened.
    """

    messages: list[Any]
    handles: Mapping[str, str] = attrs.field(factory=dict)
    unkept: tuple[str, ...] = ()


def age(messages: Sequence[Message], shape: Shape, keep: Keep, *, profile: str = "octoc") -> AgedConversation:
    """Replace results of more than 4,000 characters before the last ten messages by a head and a handle.

    Each stays the result of its call, images and other parts stay, and a second run changes nothing.
    """
    old = range(max(len(messages) - RECENT_MESSAGES, 0))
    long = {
        index
        for index in old
        if any(len(answer.text) > LONGEST_OLD_RESULT for answer in shape.answers(messages[index]))
    }
    if not long:
        return AgedConversation(messages=list(messages))
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
    return AgedConversation(messages=out, handles=handles, unkept=tuple(unkept))


def _shortened(text: str, handle: str, profile: str) -> str:
    # The head is shorter for a long handle, whose notice would make the result too long again.
    shown = min(HEAD, LONGEST_OLD_RESULT - len(_notice(HEAD, len(text), handle, profile)))
    return text[: max(shown, 0)] + _notice(max(shown, 0), len(text), handle, profile)


def _notice(shown: int, total: int, handle: str, profile: str) -> str:
    if profile == "octo":
        return f"\n\n... [truncated — full result ({total:,} chars) saved to: {handle}]"
    read_on = read_call(handle, offset=shown)
    return f"\n\n[octoc: an old result, {shown:,} of {total:,} characters; read on with {read_on}]"
