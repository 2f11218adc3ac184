"""Character n-grams inside words, weighted by TF-IDF: scikit-learn's `char_wb`, without scikit-learn.

The compiler fits with it and the runtime applies it, so that a vocabulary never depends on an unstable sort.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import attrs
import numpy as np
from numpy.typing import NDArray

MIN_GRAM = 2
MAX_GRAM = 5

_MEMO = 4096
_MEMO_CHARS = 32
"""Number and longest length of words whose n-grams are cached, as messages repeat the same words."""

Columns = NDArray[np.intp]
Row = tuple[Columns, NDArray[np.float64]]
"""Columns, each once, and their values: both of shape (m,)."""


def grams(text: str) -> Counter[str]:
    """Count the n-grams of a lower-cased text, 2 to 5 characters within words; the ends of a word count as blanks.

    Source: scikit-learn, `CountVectorizer(analyzer="char_wb", ngram_range=(2, 5))`.
    """
    counts: Counter[str] = Counter()
    for word in text.lower().split():
        counts.update(_of_word(word) if len(word) <= _MEMO_CHARS else _cut(word))
    return counts


@lru_cache(maxsize=_MEMO)
def _of_word(word: str) -> tuple[str, ...]:
    return _cut(word)


def _cut(word: str) -> tuple[str, ...]:
    padded = f" {word} "
    pieces: list[str] = []
    for size in range(MIN_GRAM, MAX_GRAM + 1):
        pieces += [padded[start : start + size] for start in range(max(1, len(padded) - size + 1))]
        if len(padded) <= size:
            break  # a word shorter than the n-gram counts once, as a whole
    return tuple(pieces)


@attrs.define(eq=False)
class TfIdf:
    """A fitted vocabulary: n-gram -> its column, and the inverse document frequencies by column."""

    columns: Mapping[str, int] = attrs.field(repr=False)
    idf: NDArray[np.float64] = attrs.field(repr=False)
    _squares: NDArray[np.float64] = attrs.field(init=False, repr=False)
    _weights: NDArray[np.float32] = attrs.field(init=False, repr=False)
    _memo: dict[str, Columns] = attrs.field(factory=dict, init=False, repr=False)

    @_squares.default
    def _square_idf(self) -> NDArray[np.float64]:
        return self.idf * self.idf

    @_weights.default
    def _idf_as_float32(self) -> NDArray[np.float32]:
        return self.idf.astype(np.float32)

    @classmethod
    def of(cls, vocabulary: Sequence[str], idf: Sequence[float]) -> TfIdf:
        """Create it from the n-grams in column order and their inverse document frequencies."""
        if len(vocabulary) != len(idf):
            raise ValueError(f"there are {len(vocabulary)} n-grams and {len(idf)} inverse document frequencies")
        return cls({gram: column for column, gram in enumerate(vocabulary)}, np.array(idf, np.float64))

    def transform(self, text: str) -> Row:
        """Return the columns of a text's known n-grams, ascending, and their values, L2-normalised.

        Both are empty if none is known.
        """
        words = [self.numbers_of(word) for word in text.lower().split()]
        if not words:
            return np.zeros(0, np.intp), np.zeros(0)
        # Integers until here, so that the order of words does not matter.
        counts = np.bincount(np.concatenate(words), minlength=len(self.idf))
        columns = counts.nonzero()[0]
        values = counts[columns] * self.idf[columns]
        norm = math.sqrt(float((values * values).sum()))
        return columns, values / norm if norm else values

    def numbers_of(self, word: str) -> Columns:
        """Return the column of each known n-gram of a lower-case word, as often as the word has it."""
        numbers = self._memo.get(word)
        if numbers is None:
            columns = self.columns
            numbers = np.array([columns[gram] for gram in _cut(word) if gram in columns], np.intp)
            if len(word) <= _MEMO_CHARS:
                if len(self._memo) >= _MEMO:
                    self._memo.clear()
                self._memo[word] = numbers
        return numbers

    def weighed(self, numbers: Columns, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum of the rows of these n-grams, shape (k,) of (columns, k), each times its inverse frequency."""
        total: NDArray[np.float32] = np.add.reduce(rows[numbers] * self._weights[numbers, None])
        return total

    def length(self, numbers: Columns) -> float:
        """Return the norm of the row of a text with these n-grams, before normalisation."""
        counts = np.bincount(numbers)
        return math.sqrt(np.dot(self._squares[numbers], counts[numbers]))


@attrs.frozen
class Hashed:
    """N-grams numbered by a digest instead of a vocabulary, for builds of many capabilities."""

    size: int

    def transform(self, text: str) -> Row:
        """Return the columns of a text's n-grams, below `size`, and their values, L2-normalised."""
        by_column: dict[int, float] = {}
        for gram, count in grams(text).items():
            digest = zlib.crc32(gram.encode("utf-8", "surrogatepass"))
            column = digest % self.size
            # Two n-grams in one column are as likely to cancel out as to add up.
            by_column[column] = by_column.get(column, 0.0) + (count if digest & 1 << 31 else -count)
        columns = np.fromiter(by_column, np.intp, len(by_column))
        values = np.fromiter(by_column.values(), np.float64, len(by_column))
        norm = math.sqrt(math.fsum((values * values).tolist()))
        return columns, values / norm if norm else values

    def numbers_of(self, word: str) -> Columns:
        """Return a number below 2 * `size` for each n-gram of a lower-case word: its column, or that and `size`."""
        digests = (zlib.crc32(gram.encode("utf-8", "surrogatepass")) for gram in _cut(word))
        return np.array([one % self.size + (0 if one & 1 << 31 else self.size) for one in digests], np.intp)

    def weighed(self, numbers: Columns, rows: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the sum of the rows of these n-grams, shape (k,) of (size, k), less those from `size` on."""
        signs = np.where(numbers < self.size, np.float32(1), np.float32(-1))
        total: NDArray[np.float32] = (rows[numbers % self.size] * signs[:, None]).sum(axis=0)
        return total

    def length(self, numbers: Columns) -> float:
        """Return the norm of the row of a text with these n-grams, before normalisation."""
        counts = np.bincount(numbers, minlength=2 * self.size)
        values = counts[: self.size] - counts[self.size :]
        return math.sqrt(np.dot(values, values))


def fit(texts: Iterable[str], max_features: int) -> tuple[list[str], list[float]]:
    """Return the `max_features` most frequent n-grams, sorted, and their smoothed inverse document frequencies.

    Equally frequent n-grams are taken in sort order.
    Source: scikit-learn, `TfidfVectorizer` with its defaults.
    """
    total: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    number = 0
    for text in texts:
        counted = grams(text)
        total.update(counted)
        documents.update(counted.keys())
        number += 1
    vocabulary = sorted(sorted(total, key=lambda gram: (-total[gram], gram))[:max_features])
    return vocabulary, [math.log((1 + number) / (1 + documents[gram])) + 1 for gram in vocabulary]
