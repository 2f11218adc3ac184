"""The part of a message that counts for routing: the user's request, without pasted text."""

from __future__ import annotations

import re

from octoc.routing.languages import letters_in
from octoc.routing.paste_filter import strip_pasted

MIN_INTENT_CHARS = 8
"""A message with fewer non-blank characters never routes; a Chinese character counts 3, a Japanese or Korean one 2."""

MAX_INTENT_CHARS = 2000
"""Longest text that is scored as a whole.

A longer one is scored by its first and last half, as a request is before or after long prose.
"""

MAX_MESSAGE_CHARS = 12_000
"""Longest text whose sentences are scored (`octoc.routing.windows`), about 2,000 words.

Encoding takes time in proportion to the words, a quarter of a second for so many. A longer text loses its middle.
"""

_TAG = re.compile(r"<(/?)([\w-]+)(?:[^<>]*?(/?)>)?")


def clean_intent(message: str, *, pasted: bool = False) -> str:
    """Return the text to score as a whole: that of `clean_message`, at most `MAX_INTENT_CHARS`."""
    return clipped(clean_message(message, pasted=pasted), MAX_INTENT_CHARS)


def clean_message(message: str, *, pasted: bool = False) -> str:
    """Return a message without XML blocks, pasted text and white space at its ends, at most `MAX_MESSAGE_CHARS`.

    Takes linear time.

    Args:
        pasted: keep code, logs, quoted mail and other dumps, as Octomind's own gate does.
    """
    text = strip_xml_blocks(message)
    if not pasted:
        text = strip_pasted(text)
    return clipped(text.strip(), MAX_MESSAGE_CHARS)


def clipped(text: str, most: int) -> str:
    """Return a text of at most `most` characters and a line break: the first and last half of a longer one."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half].rstrip()}\n{text[-half:].lstrip()}"


def is_routable(intent: str) -> bool:
    """Return whether a cleaned message has the `MIN_INTENT_CHARS` non-blank characters that routing requires."""
    return letters_in(intent) >= MIN_INTENT_CHARS


def strip_xml_blocks(text: str) -> str:
    """Drop every block from `<name` through the `</name>` that closes it; an unclosed tag stays.

    A name is letters, digits, `-` and `_`. Blocks of one name may be nested; `<name/>` opens none.
    Source: Octomind, `strip_xml_blocks`, which stops at the first close tag and so leaves the end of an outer block.
    """
    if "<" not in text:
        return text
    waiting: dict[str, list[int]] = {}
    blocks: list[tuple[int, int]] = []
    for tag in _TAG.finditer(text):
        closes, name, closed = tag.groups()
        if closes:
            opened = waiting.get(name)
            # `</name >` and `</name` close nothing: Octomind requires the exact tag.
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
