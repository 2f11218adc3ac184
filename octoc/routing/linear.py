"""The linear models of a gate: what a message's n-grams and its vector make of each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.routing.scores import dots

Vector = NDArray[np.float32]
Logits = NDArray[np.float64]
Numbers = NDArray[np.intp]

_MEMO = 4096
_MEMO_CHARS = 32
_MEMO_FIGURES = 1 << 20
"""Limits of a cache of what words add to each class (words, length, and 4 MB of figures).

People use the same words again and again, and reading one row for a word is cheaper than one for each n-gram.
"""

_Word = tuple[Numbers, Vector]


class Ngrams(Protocol):
    """What numbers n-grams and weighs them; `octoc.routing.features` has two."""

    def numbers_of(self, word: str) -> Numbers:
        """Return the numbers of a lower-case word's n-grams, each as often as the word has it."""

    def weighed(self, numbers: Numbers, rows: Vector) -> Vector:
        """Return what n-grams of these numbers add up to, with a row for each n-gram."""

    def length(self, numbers: Numbers) -> float:
        """Return what the sum is divided by for a text with n-grams of these numbers."""


@attrs.define(kw_only=True, eq=False)
class Linear:
    """Weights over n-grams and, with an encoder, over vectors.

    Args:
        ngrams: what numbers the m n-grams.
        grams: shape (m, k + 1), a row per n-gram.
        bias: shape (k + 1,).
        vectors: shape (k + 1, d); None is a model of words alone.
        mean: shape (d,), taken from a message's vector before it is weighed.
    """

    ngrams: Ngrams
    grams: Vector
    bias: Vector
    vectors: Vector | None = None
    mean: Vector | None = None
    _start: Logits = attrs.field(init=False, repr=False)
    _memo: dict[str, _Word] = attrs.field(factory=dict, init=False, repr=False)

    @_start.default
    def _started(self) -> Logits:
        return np.append(self.bias.astype(np.float64), -np.inf)

    def logits(self, text: str, vector: Vector | None) -> Logits:
        """Return the logit of each class, of the background, and of no class (-inf): shape (k + 2,).

        Args:
            text: the cleaned message.
            vector: its vector, shape (d,); not looked at by a model of words alone.
        """
        logits = self._start.copy()
        known = logits[:-1]
        memo = self._memo
        words = [memo.get(word) or self._of_word(word) for word in text.lower().split()]
        if words:
            length = self.ngrams.length(np.concatenate([numbers for numbers, _ in words]))
            if length:
                added = _sum([row for _, row in words])
                added /= length
                known += added
        if vector is not None and self.vectors is not None and self.mean is not None:
            known += dots(self.vectors, vector - self.mean)
        return logits

    def _of_word(self, word: str) -> _Word:
        numbers = self.ngrams.numbers_of(word)
        found = numbers, self.ngrams.weighed(numbers, self.grams)
        if len(word) <= _MEMO_CHARS:
            if len(self._memo) >= min(_MEMO, _MEMO_FIGURES // len(self.bias)):
                self._memo.clear()
            self._memo[word] = found
        return found


def _sum(rows: Sequence[Vector]) -> Vector:
    # One after the other: for a few short rows that costs less than to stack them.
    total = rows[0].copy()
    for row in rows[1:]:
        total += row
    return total
