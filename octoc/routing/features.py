"""Character n-grams inside words, weighted by TF-IDF: scikit-learn's `char_wb`, in plain Python.

The compiler fits with it and the runtime applies it, so that a vocabulary never depends on an unstable sort.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import attrs

MIN_GRAM = 2
MAX_GRAM = 5


def grams(text: str) -> Counter[str]:
    """Count the n-grams of a lower-cased text, 2 to 5 characters, none across words; a word's ends count as a blank.

    Source: scikit-learn, `CountVectorizer(analyzer="char_wb", ngram_range=(2, 5))`.
    """
    found: Counter[str] = Counter()
    for word in text.lower().split():
        found.update(_of_word(word))
    return found


@lru_cache(maxsize=4096)
def _of_word(word: str) -> tuple[str, ...]:
    padded = f" {word} "
    found: list[str] = []
    for size in range(MIN_GRAM, MAX_GRAM + 1):
        found += [padded[start : start + size] for start in range(max(1, len(padded) - size + 1))]
        if len(padded) <= size:
            break  # a word shorter than the n-gram counts once, as a whole
    return tuple(found)


@attrs.frozen
class TfIdf:
    """A fitted vocabulary: n-gram -> (its column, its inverse document frequency)."""

    columns: Mapping[str, tuple[int, float]] = attrs.field(repr=False)

    @classmethod
    def of(cls, vocabulary: Sequence[str], idf: Sequence[float]) -> TfIdf:
        """Make it of the n-grams in column order and of their inverse document frequencies."""
        pairs = zip(vocabulary, idf, strict=True)
        return cls({gram: (column, float(weight)) for column, (gram, weight) in enumerate(pairs)})

    def transform(self, text: str) -> tuple[list[int], list[float]]:
        """Return the columns of a text's known n-grams and their values, L2-normalised; both empty if none is known."""
        known = self.columns
        columns: list[int] = []
        values: list[float] = []
        for gram, count in grams(text).items():
            pair = known.get(gram)
            if pair is not None:
                columns.append(pair[0])
                values.append(pair[1] * count)
        norm = math.sqrt(math.fsum([value * value for value in values]))
        return columns, [value / norm for value in values]


@attrs.frozen
class Hashed:
    """N-grams that are numbered by a digest instead of by a vocabulary: for builds of many capabilities."""

    size: int

    def transform(self, text: str) -> tuple[list[int], list[float]]:
        """Return the columns of a text's n-grams, below `size`, and their values, L2-normalised."""
        found: dict[int, float] = {}
        for gram, count in grams(text).items():
            digest = zlib.crc32(gram.encode("utf-8", "surrogatepass"))
            column = digest % self.size
            # Two n-grams in one column are as likely to cancel out as to add up.
            found[column] = found.get(column, 0.0) + (count if digest & 1 << 31 else -count)
        norm = math.sqrt(math.fsum(value * value for value in found.values()))
        return list(found), [value / norm for value in found.values()] if norm else [0.0] * len(found)


def fit(texts: Iterable[str], max_features: int) -> tuple[list[str], list[float]]:
    """Return the `max_features` most frequent n-grams, sorted, and their smoothed inverse document frequencies.

    Of n-grams that are equally frequent those that sort first are taken.
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
