"""What of a message counts for routing."""

from __future__ import annotations

import re
from bisect import bisect_left

MIN_INTENT_CHARS = 8
"""A message with fewer non-blank characters never routes."""

_OPEN = re.compile(r"<([\w-]+)")
_CLOSE = re.compile(r"</([\w-]+)>")


def clean_intent(message: str) -> str:
    """Return the message without its XML blocks and without white space at its ends: the text that is embedded."""
    return strip_xml_blocks(message).strip()


def is_routable(intent: str) -> bool:
    """Tell whether a cleaned message has the `MIN_INTENT_CHARS` non-blank characters that routing asks for."""
    return sum(map(len, intent.split())) >= MIN_INTENT_CHARS


def strip_xml_blocks(text: str) -> str:
    """Drop every block from `<name` through the first `</name>` behind it; a tag that nothing closes stays.

    A name is letters, digits, `-` and `_`. Of a block inside one of the same name the outer tail stays.
    Source: Octomind, `strip_xml_blocks`.
    """
    # All close tags first: seeking each open tag's own would take quadratic time on a paste of many unclosed tags.
    ends: dict[str, list[int]] = {}
    for close in _CLOSE.finditer(text):
        ends.setdefault(close.group(1), []).append(close.end())
    if not ends:
        return text
    kept: list[str] = []
    position = 0
    start = 0
    while opened := _OPEN.search(text, position):
        candidates = ends.get(opened.group(1), [])
        place = bisect_left(candidates, opened.end())
        position = opened.end()
        if place < len(candidates):
            kept.append(text[start : opened.start()])
            start = position = candidates[place]
    return "".join([*kept, text[start:]])
