"""What of a message counts for routing: what the user asks, without what was pasted beside it."""

from __future__ import annotations

import re

from octoc.routing.pasted import strip_pasted

MIN_INTENT_CHARS = 8
"""A message with fewer non-blank characters never routes."""

MAX_INTENT_CHARS = 2000
"""Longest scored intent.

A longer one is scored by its first and last half, as a request is before or after long prose.
"""

_TAG = re.compile(r"<(/?)([\w-]+)(?:[^<>]*?(/?)>)?")


def clean_intent(message: str, *, pasted: bool = False) -> str:
    """Return the text that is scored: no XML blocks, nothing pasted, no white space at its ends. Takes linear time.

    Args:
        pasted: keep code, logs, quoted mail and other dumps, as Octomind's own gate does.
    """
    text = strip_xml_blocks(message)
    if not pasted:
        text = strip_pasted(text)
    text = text.strip()
    if len(text) <= MAX_INTENT_CHARS:
        return text
    half = MAX_INTENT_CHARS // 2
    return f"{text[:half].rstrip()}\n{text[-half:].lstrip()}"


def is_routable(intent: str) -> bool:
    """Tell whether a cleaned message has the `MIN_INTENT_CHARS` non-blank characters that routing asks for."""
    return sum(map(len, intent.split())) >= MIN_INTENT_CHARS


def strip_xml_blocks(text: str) -> str:
    """Drop every block from `<name` through the `</name>` that closes it; a tag that nothing closes stays.

    A name is letters, digits, `-` and `_`. Blocks of one name may stand inside each other; `<name/>` opens none.
    Source: Octomind, `strip_xml_blocks`, which stops at the first close tag and so leaves an outer block's tail.
    """
    if "<" not in text:
        return text
    waiting: dict[str, list[int]] = {}
    blocks: list[tuple[int, int]] = []
    for tag in _TAG.finditer(text):
        closes, name, closed = tag.groups()
        if closes:
            opened = waiting.get(name)
            # `</name >` or `</name` closes nothing: Octomind asks for the very tag.
            if opened and text.startswith(f"{name}>", tag.start() + 2):
                blocks.append((opened.pop(), tag.start() + len(name) + 3))
        elif not closed:
            waiting.setdefault(name, []).append(tag.start())
    kept: list[str] = []
    position = 0
    for start, end in sorted(blocks):
        if start >= position:
            kept.append(text[position:start])
            position = end
    return "".join([*kept, text[position:]])
