"""The parts of a long message that are decided one by one, since a request in chat is a small part of the whole."""

from __future__ import annotations

import re

from octoc.routing.clean import is_routable
from octoc.routing.languages import letters_in

LONG = 240
"""Non-blank characters of a message, as `letters_in` counts them, from which its parts are decided too.

A request of 35 words has about 170; the whole of a longer message says more about the chat around it.
"""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[\u3002\uff01\uff1f])|\n+")


def windows(text: str) -> tuple[str, ...]:
    """Return the distinct sentences of a long message, in order; none of a message that is decided as a whole."""
    if letters_in(text) < LONG:
        return ()
    sentences = (sentence.strip() for sentence in _SENTENCE.split(text))
    return tuple(dict.fromkeys(sentence for sentence in sentences if is_routable(sentence)))
