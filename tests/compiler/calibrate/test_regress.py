"""The logistic regression that the gate is learned by."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from octoc.compiler.calibrate.regress import MAX_ITERATIONS, regress


@pytest.mark.parametrize("classes,filled", [(7, 0.05), (7, 1.0), (2, 1.0)])
def test_logistic_regression_is_scikit_learns(classes: int, filled: float) -> None:
    """Of sparse and of dense features, of two classes and of many, weights and biases are scikit-learn's."""
    rng = np.random.default_rng(classes)
    features = (rng.standard_normal((120, 30)) * (rng.random((120, 30)) < filled)).astype(np.float32)
    labels = rng.integers(0, classes, 120)
    weights = rng.choice([0.1, 0.5, 1.0], 120)
    oracle = LogisticRegression(C=5.0, max_iter=MAX_ITERATIONS).fit(features, labels, sample_weight=weights)
    found, bias = regress(features, labels, weights, classes, 5.0)
    wanted, prior = (oracle.coef_, oracle.intercept_) if classes > 2 else (oracle.coef_[0], oracle.intercept_[0])
    assert (found if classes > 2 else found[1] - found[0]) == pytest.approx(wanted, abs=1e-3)
    assert (bias if classes > 2 else bias[1] - bias[0]) == pytest.approx(prior, abs=1e-3)


def test_a_class_without_an_example_never_wins() -> None:
    """Of three classes, one of which no example is of, that one has a bias that nothing outweighs."""
    features = np.eye(4, dtype=np.float32)
    found, bias = regress(features, np.array([0, 2, 0, 2]), np.ones(4), 3, 5.0)
    logits = features @ found.T + bias
    assert logits.argmax(axis=1).tolist() == [0, 2, 0, 2]
    assert (logits[:, 1] < -900).all()
