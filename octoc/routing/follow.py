"""Whether a message goes on with an earlier one: what of its form tells that, beside its vector."""

from __future__ import annotations

import re

CUES = 4
"""How many figures `cues` returns."""

_SCALE = 0.3
"""Beside a vector of length 1, so that neither outweighs the other where both are penalised alike."""

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
    """Return how long a message is, and whether it begins like a continuation, points at something, or asks.

    The beginnings are those of a few languages, the words that point are English: elsewhere the vector has to tell.
    """
    stripped = text.strip()
    found = (
        min(3.0, len(stripped.split()) / _WORDS),
        _START.match(stripped) is not None,
        _POINTS.search(stripped) is not None,
        stripped.endswith("?"),
    )
    return [_SCALE * float(value) for value in found]
