"""The calibrated gate's classifier as plain arrays: one row of weights per capability, and one for the background."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.routing.features import TfIdf
from octoc.routing.gate import ARRAYS


@attrs.frozen(kw_only=True, eq=False)
class Classifier:
    """A multinomial logistic regression over `classes`, the background behind them.

    Args:
        classes: the capabilities that it knows, k of them.
        mean: shape (d,), taken from a message's vector before it is weighed.
        vector_weights: shape (k + 1, d).
        gram_weights: shape (m, k + 1), a row per n-gram.
        bias: shape (k + 1,).
        tfidf: the m n-grams.
    """

    classes: tuple[str, ...]
    mean: NDArray[np.float32]
    vector_weights: NDArray[np.float32]
    gram_weights: NDArray[np.float16]
    bias: NDArray[np.float32]
    tfidf: TfIdf

    @classmethod
    def of(cls, data: Mapping[str, Sequence[str]], arrays: Mapping[str, NDArray[np.generic]]) -> Classifier:
        """Make it of a gate's `data` (`classes`, `grams`) and of its arrays (see `gate.ARRAYS`).

        Raises: ValueError when their shapes do not fit each other.
        """
        mean, vector_weights, gram_weights, bias, idf = (arrays[name] for name in ARRAYS)
        wide = len(data["classes"]) + 1
        expected = ((wide, *mean.shape), (len(data["grams"]), wide), (wide,), (len(data["grams"]),))
        found = tuple(array.shape for array in (vector_weights, gram_weights, bias, idf))
        if found != expected:
            raise ValueError(f"the gate's arrays have shapes {found}, expected {expected}")
        return cls(
            classes=tuple(data["classes"]),
            mean=mean.astype(np.float32),
            vector_weights=vector_weights.astype(np.float32),
            gram_weights=gram_weights.astype(np.float16, copy=False),
            bias=bias.astype(np.float32),
            tfidf=TfIdf.of(data["grams"], [float(value) for value in idf.astype(np.float64)]),
        )

    def logits(self, intent: str, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the logit of each class and, last, of the background: shape (k + 1,).

        Args:
            intent: the cleaned message.
            vector: its vector, shape (d,), L2-normalised.
        """
        columns, values = self.tfidf.transform(intent)
        weights = self.gram_weights[columns].astype(np.float32)
        # einsum, not BLAS: see `octoc.routing.scores`.
        dense = np.einsum("kd,d->k", self.vector_weights, vector - self.mean)
        lexical = np.einsum("mk,m->k", weights, np.array(values, np.float32))
        logits: NDArray[np.float32] = dense + lexical + self.bias
        return logits

    def probabilities(
        self, intent: str, vector: NDArray[np.float32], candidates: Collection[str]
    ) -> tuple[dict[str, float], float]:
        """Return the probability of each candidate, and the background's; what is no candidate takes no part in it.

        A candidate that the classifier does not know, as one without triggers, has probability 0.
        """
        logits = self.logits(intent, vector).astype(np.float64)
        wanted = set(candidates)
        taking_part = [number for number, name in enumerate(self.classes) if name in wanted]
        chosen = logits[[*taking_part, len(self.classes)]]
        shares = np.exp(chosen - chosen.max())
        shares /= shares.sum()
        found = dict.fromkeys(sorted(wanted), 0.0)
        found.update({self.classes[number]: float(share) for number, share in zip(taking_part, shares, strict=False)})
        return found, float(shares[-1])
