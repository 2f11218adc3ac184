"""Trains the classifier of the calibrated gate. It loads scikit-learn, so it is imported only for training.

The classes are the capabilities and the background. The result is plain arrays, which `octoc.routing.classifier`
applies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from octoc.compiler.calibrate.examples import nearby
from octoc.compiler.calibrate.regress import Weights, regress, regress_wide
from octoc.compiler.calibrate.texts import COUNTER_WEIGHT, TRIGGER_WEIGHT, Example, chat_lines
from octoc.routing.features import TfIdf, fit
from octoc.routing.follow_up import cues

MAX_FEATURES = 4000
STRENGTH = 5.0
FOLLOW_STRENGTH = 20.0
WHOLE_WEIGHT = 0.03
"""A message of the library is complete by itself: each is an example, of little weight, of no follow-up."""

WIDE_STRENGTH = 20.0
WIDE_FEATURES = 2000
WORDS_SHARE = 0.6
"""With further examples: a lower penalty, since there are more examples, and n-grams weigh less than vectors."""

Vectors = Mapping[str, NDArray[np.float32]]
Learned = tuple[dict[str, Any], dict[str, NDArray[np.generic]]]


def fit_classifier(
    found: Sequence[Example],
    library: Sequence[Example],
    vectors: Vectors | None,
    follow: Mapping[str, bool],
    requests: Sequence[str] = (),
) -> Learned:
    """Train a classifier. The same input gives the same bits on one kind of CPU.

    Args:
        found: the workspace's training texts and the background; at least one of a capability and one of the
            background.
        library: further examples, of the background and of needs; the model of only words does not use them.
        vectors: the vector of each text, shape (d,), L2-normalised; None trains on only words.
        follow: text -> whether it follows up an earlier one.
        requests: further texts that ask for something, whatever it is.

    Returns: `data` and `arrays` as `octoc.routing.classifier.Classifier.of` reads them, weights as float16.
    """
    classes = sorted({example.capability for example in found if example.capability is not None})
    data: dict[str, Any] = {"classes": classes, "method": "logistic"}
    # Counter-triggers repeat the triggers' wording, so they would only count it twice.
    counted = [example for example in found if example.weight != COUNTER_WEIGHT]
    if library:
        counted = [example for example in counted if example.own]
    vocabulary, idf = fit((example.text for example in counted), WIDE_FEATURES if library else MAX_FEATURES)
    ngrams = TfIdf.of(vocabulary, idf)
    data["grams"] = vocabulary
    arrays: dict[str, NDArray[np.generic]] = {"idf": np.array(idf, np.float32)}
    spoken = _lexical(found, ngrams)
    nothing = np.zeros((len(found), 0), np.float32)
    rows, bias = _Task.of(found, classes).learn(nothing, spoken, STRENGTH)
    arrays |= {"word_weights": _turned(rows), "word_bias": bias.astype(np.float32)}
    if vectors is not None:
        lexical = vstack([spoken, _lexical(library, ngrams)], format="csr") if library else spoken
        arrays |= _full([*found, *library], classes, vectors, lexical, wide=bool(library))
        if library:
            data["nearby"], examples = nearby([*found, *library], classes, vectors)
            arrays |= examples
        whole = [example.text for example in library if example.need]
        arrays |= _follow({text: label for text, label in follow.items() if text in vectors}, whole, vectors)
        asking = [*(example.text for example in found if example.weight == TRIGGER_WEIGHT), *requests]
        arrays |= _asks(asking, [text for text in chat_lines() if text in vectors], vectors)
    return data, arrays


@attrs.frozen(eq=False)
class _Task:
    """Examples as labels and weights; the background is the last class."""

    labels: NDArray[np.int64]
    weights: NDArray[np.float64]
    classes: int

    @classmethod
    def of(cls, found: Sequence[Example], classes: Sequence[str]) -> _Task:
        number = {name: place for place, name in enumerate(classes)}
        labels = [len(classes) if example.capability is None else number[example.capability] for example in found]
        return cls(np.array(labels), np.array([example.weight for example in found]), len(classes) + 1)

    def learn(self, dense: NDArray[np.float32], sparse: csr_matrix, strength: float) -> Weights:
        return regress_wide(dense, sparse, self.labels, self.weights, self.classes, strength)


def _full(
    found: Sequence[Example],
    classes: Sequence[str],
    vectors: Vectors,
    lexical: csr_matrix,
    *,
    wide: bool,
) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of the model over vectors and n-grams; `lexical` has a row for each of `found`."""
    task = _Task.of(found, classes)
    own = [example for example in found if example.own]
    mean = np.stack([vectors[example.text] for example in own]).mean(axis=0).astype(np.float32)
    centred = np.stack([vectors[example.text] for example in found]).astype(np.float32) - mean
    share = WORDS_SHARE if wide else 1.0
    rows, bias = task.learn(centred, (lexical * np.float32(share)).tocsr(), WIDE_STRENGTH if wide else STRENGTH)
    rows[:, len(mean) :] *= share
    dense, grams = rows[:, : len(mean)], rows[:, len(mean) :]
    return {
        "mean": mean,
        "vector_weights": dense.astype(np.float16),
        "gram_weights": _turned(grams),
        "bias": bias.astype(np.float32),
    }


def _turned(weights: NDArray[np.floating[Any]]) -> NDArray[np.float16]:
    """Return weights with a row for each n-gram, so that a message reads only the rows of its n-grams."""
    return np.ascontiguousarray(weights.T.astype(np.float16))


def _follow(follow: Mapping[str, bool], whole: Sequence[str], vectors: Vectors) -> dict[str, NDArray[np.generic]]:
    """Return the arrays that tell whether a message follows up an earlier one, over its vector and its `cues`."""
    if len(set(follow.values())) < 2:
        return {}
    texts = [*follow, *dict.fromkeys(text for text in whole if text not in follow)]
    features = np.stack([np.append(vectors[text], cues(text)) for text in texts]).astype(np.float32)
    labels = np.zeros(len(texts), np.int64)
    labels[: len(follow)] = list(follow.values())
    weights = np.full(len(texts), WHOLE_WEIGHT)
    weights[: len(follow)] = 1.0
    return _odds("follow", features, features[: len(follow)].mean(axis=0), labels, weights, FOLLOW_STRENGTH)


def _asks(asking: Sequence[str], chat: Sequence[str], vectors: Vectors) -> dict[str, NDArray[np.generic]]:
    """Return the arrays that tell a request from chat over a text's vector; both sides have the same weight."""
    if not chat:
        return {}
    texts = [*dict.fromkeys(asking), *chat]
    features = np.stack([vectors[text] for text in texts]).astype(np.float32)
    labels = np.repeat([1, 0], [len(texts) - len(chat), len(chat)])
    weights = np.where(labels, len(chat) / (len(texts) - len(chat)), 1.0)
    return _odds("ask", features, features.mean(axis=0), labels, weights, STRENGTH)


def _odds(
    name: str,
    features: NDArray[np.float32],
    mean: NDArray[np.float32],
    labels: NDArray[np.int64],
    weights: NDArray[np.float64],
    strength: float,
) -> dict[str, NDArray[np.generic]]:
    """Return the weights and the bias of a model of two classes: the log-odds of the second."""
    rows, bias = regress(features - mean, labels, weights, 2, strength)
    found = rows[1] - rows[0]
    return {
        f"{name}_weights": found.astype(np.float32),
        f"{name}_bias": np.array([bias[1] - bias[0] - found @ mean], np.float32),
    }


def _lexical(found: Sequence[Example], ngrams: TfIdf) -> csr_matrix:
    rows = [ngrams.transform(example.text) for example in found]
    starts = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns = np.concatenate([columns for columns, _ in rows])
    values = np.concatenate([values for _, values in rows]).astype(np.float32)
    return csr_matrix((values, columns, starts), shape=(len(found), len(ngrams.idf)))
