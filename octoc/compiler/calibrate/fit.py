"""Learns the classifier of the calibrated gate. Imported only when one has to be learned: it loads scikit-learn.

A multinomial logistic regression over the encoder's vectors, centred, beside TF-IDF of character n-grams. Its classes
are the capabilities and the background. What comes out are plain arrays, applied by `octoc.routing.classifier`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from octoc.compiler.calibrate.texts import COUNTER_WEIGHT, Example
from octoc.routing.features import TfIdf, fit

MAX_FEATURES = 4000
INVERSE_REGULARISATION = 5.0
MAX_ITERATIONS = 50

Vector = NDArray[np.float32]


def fit_classifier(
    found: Sequence[Example], vectors: Mapping[str, Vector]
) -> tuple[dict[str, list[str]], dict[str, NDArray[np.generic]]]:
    """Learn a classifier. The same input gives the same bits on one kind of CPU.

    Args:
        found: the training texts; at least one of a capability and one of the background.
        vectors: the vector of each text, shape (d,), L2-normalised.

    Returns: `data` and `arrays` as `octoc.routing.classifier.Classifier.of` reads them, weights as float16.
    """
    classes = sorted({example.capability for example in found if example.capability is not None})
    own = [example for example in found if example.capability is not None]
    mean: Vector = np.stack([vectors[example.text] for example in own]).mean(axis=0)
    # Counter-triggers repeat the triggers' wording, so they would only count it twice.
    vocabulary, idf = fit((example.text for example in found if example.weight != COUNTER_WEIGHT), MAX_FEATURES)
    features = np.concatenate([_centred(found, vectors, mean), _lexical(found, TfIdf.of(vocabulary, idf))], axis=1)
    number = {name: place for place, name in enumerate(classes)}
    labels = np.array([number.get(example.capability or "", len(classes)) for example in found])
    weights, bias = _regress(features, labels, np.array([example.weight for example in found]))
    dimension = len(mean)
    arrays: dict[str, NDArray[np.generic]] = {
        "mean": mean,
        "vector_weights": weights[:, :dimension].astype(np.float16),
        "gram_weights": np.ascontiguousarray(weights[:, dimension:].T.astype(np.float16)),
        "bias": bias.astype(np.float32),
        "idf": np.array(idf, np.float32),
    }
    return {"classes": classes, "grams": vocabulary}, arrays


def _centred(found: Sequence[Example], vectors: Mapping[str, Vector], mean: Vector) -> NDArray[np.float32]:
    return np.stack([vectors[example.text] for example in found]).astype(np.float32) - mean


def _lexical(found: Sequence[Example], tfidf: TfIdf) -> NDArray[np.float32]:
    rows = np.zeros((len(found), len(tfidf.columns)), np.float32)
    for row, example in zip(rows, found, strict=True):
        columns, values = tfidf.transform(example.text)
        row[columns] = values
    return rows


def _regress(
    features: NDArray[np.float32], labels: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights of shape (classes, features) and biases of shape (classes,)."""
    model = LogisticRegression(C=INVERSE_REGULARISATION, max_iter=MAX_ITERATIONS)
    # One thread: two would add up in another order, and are no faster on busy cores.
    with threadpool_limits(limits=1, user_api="blas"), warnings.catch_warnings():
        # The iterations are a chosen stop, not a failure to converge.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(features, labels, sample_weight=weights)
    if len(model.classes_) > 2:
        return model.coef_, model.intercept_
    # Of two classes scikit-learn gives the second's log-odds alone: the first one's are the zero.
    return np.vstack([np.zeros_like(model.coef_), model.coef_]), np.append(0.0, model.intercept_)
