"""Messages that continue an earlier one: the features that show it, and the texts that are decided then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

CUES = 4
"""The number of features that `cues` returns."""

_SCALE = 0.3
"""The scale next to a vector of length 1, so that a common penalty treats both alike."""

_WORDS = 10
_START = re.compile(
    r"(?:and|also|then|now|again|same|but|no|yes|ok|okay|only|just|make|what about|how about|und|auch|dann|jetzt|aber"
    r"|nur|et|aussi|puis|mais|y|e|o|pero|ahora|anche|poi|ma|adesso)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:it|its|them|that|those|these|this|one|ones|he|him|his|she|her|they|their|there|instead|again|too|same|other"
    r"|others|another|first|second|third|last|next|rest|both)\b",
    re.IGNORECASE,
)


def cues(text: str) -> list[float]:
    """Return the length of a message, and whether it begins like a continuation, has a pronoun, or is a question.

    The beginnings cover a few languages, the pronouns English; for other languages the vector must suffice.
    """
    stripped = text.strip()
    features = (
        min(3.0, len(stripped.split()) / _WORDS),
        _START.match(stripped) is not None,
        _POINTS.search(stripped) is not None,
        stripped.endswith("?"),
    )
    return [_SCALE * float(value) for value in features]


def earlier_texts(intent: str, before: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each earlier message by itself and, joined, all messages from it to the intent; the latest first."""
    joined = intent
    for turn in reversed(before):
        joined = f"{turn}\n{joined}"
        yield turn, joined
