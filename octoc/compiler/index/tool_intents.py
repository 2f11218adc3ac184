"""Tool intents, kinds of tools with the requests of people for them: texts that ship with octoc, and their arrays."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.search.index import Rows, Vector
from octoc.search.words import hashed, terms


@attrs.frozen(kw_only=True)
class ToolIntent:
    """A kind of tool. `about` are descriptions of such tools, `says` requests of people, mostly in other words."""

    about: tuple[str, ...]
    says: tuple[str, ...]


@cache
def tool_intents() -> tuple[ToolIntent, ...]:
    """Return the intents that ship with octoc."""
    text = Path(__file__).with_name("tool_intents.toml").read_text(encoding="utf-8")
    return tuple(
        ToolIntent(about=tuple(intent["about"]), says=tuple(intent["says"]))
        for intent in tomllib.loads(text)["tool_intent"]
    )


def texts_of(known: Sequence[ToolIntent]) -> tuple[str, ...]:
    """Return the texts to encode, without repeated ones."""
    return tuple(dict.fromkeys(text for intent in known for text in (*intent.about, *intent.says)))


def intent_arrays(known: Sequence[ToolIntent], vectors: Mapping[str, Vector]) -> dict[str, NDArray[Any]]:
    """Return the arrays of `octoc.search.index.TOOL_INTENTS`. `vectors` has every text of `texts_of`."""
    says = Rows.of(np.stack([vectors[text] for intent in known for text in intent.says]))
    abouts = Rows.of(np.stack([vectors[text] for intent in known for text in intent.about]))
    spoken = [[hashed(term) for text in intent.says for term in terms(text)] for intent in known]
    return {
        "says": says.whole,
        "says_scales": says.scales,
        "says_starts": _starts([len(intent.says) for intent in known]),
        "abouts": abouts.whole,
        "abouts_scales": abouts.scales,
        "abouts_of": np.repeat(np.arange(len(known)), [len(intent.about) for intent in known]).astype(np.uint16),
        "terms": np.array([term for found in spoken for term in found], np.uint64),
        "term_starts": _starts([len(found) for found in spoken]),
    }


def _starts(lengths: Sequence[int]) -> NDArray[np.uint32]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
