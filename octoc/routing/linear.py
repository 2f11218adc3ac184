"""The linear models of a gate, over a message's n-grams and vector."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.routing.features import Hashed, TfIdf
from octoc.routing.scores import dots

Vector = NDArray[np.float32]
Logits = NDArray[np.float64]
Numbers = NDArray[np.intp]

_MEMO = 4096
_MEMO_CHARS = 32
_MEMO_FIGURES = 1 << 20
"""Limits of the cache of words' weights: words, length, and 4 MB of figures.

Messages repeat the same words, and reading one row per word is faster than one per n-gram.
"""

_Word = tuple[Numbers, Vector]


@attrs.define(kw_only=True, eq=False)
class Linear:
    """Weights over n-grams and, with an encoder, over vectors.

    Args:
        ngrams: the numbering of the m n-grams.
        grams: shape (m, k + 1), a row per n-gram.
        bias: shape (k + 1,).
        vectors: shape (k + 1, d); None means a model of words alone.
        mean: shape (d,), subtracted from a message's vector.
    """

    ngrams: TfIdf | Hashed
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
            vector: its vector, shape (d,); a model of words alone ignores it.
        """
        logits = self._start.copy()
        finite = logits[:-1]
        memo = self._memo
        words = [memo.get(word) or self._of_word(word) for word in text.lower().split()]
        if words:
            length = self.ngrams.length(np.concatenate([numbers for numbers, _ in words]))
            if length:
                added = _sum([row for _, row in words])
                added /= length
                finite += added
        if vector is not None and self.vectors is not None and self.mean is not None:
            finite += dots(self.vectors, vector - self.mean)
        return logits

    def _of_word(self, word: str) -> _Word:
        numbers = self.ngrams.numbers_of(word)
        weighed = numbers, self.ngrams.weighed(numbers, self.grams)
        if len(word) <= _MEMO_CHARS:
            if len(self._memo) >= min(_MEMO, _MEMO_FIGURES // len(self.bias)):
                self._memo.clear()
            self._memo[word] = weighed
        return weighed


def _sum(rows: Sequence[Vector]) -> Vector:
    # One after another, which is faster than stacking a few short rows.
    total = rows[0].copy()
    for row in rows[1:]:
        total += row
    return total
