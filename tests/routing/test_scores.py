"""Octomind's score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from octoc.routing.scores import capability_scores, dots


def unit(*rows: list[float]) -> NDArray[np.float32]:
    """Return the rows as float32 unit vectors."""
    matrix = np.array(rows, np.float64)
    rows32: NDArray[np.float32] = (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)
    return rows32


def score(intent: NDArray[np.float32], triggers: NDArray[np.float32], top_k: int = 3) -> float:
    """The score of one capability that has all triggers."""
    return float(capability_scores(intent, triggers, [(0, len(triggers))], top_k)[0])


def test_the_score_is_the_mean_of_the_three_highest_cosines() -> None:
    """The three nearest of five triggers count."""
    triggers = unit([1, 0], [0, 1], [3, 4], [4, 3], [-1, 0])
    assert score(unit([1, 0])[0], triggers) == pytest.approx((1 + 0.8 + 0.6) / 3, abs=1e-6)


def test_fewer_triggers_are_all_averaged() -> None:
    """With two triggers both count."""
    assert score(unit([1, 0])[0], unit([1, 0], [-3, 4])) == pytest.approx((1 - 0.6) / 2, abs=1e-6)


def test_a_capability_without_triggers_has_no_score() -> None:
    """It scores 0, among others and alone."""
    assert capability_scores(unit([1, 0])[0], unit([-1, 0]), [(0, 1), (1, 1), (0, 0)]).tolist() == [-1.0, 0.0, 0.0]
    assert capability_scores(unit([1, 0])[0], unit([1, 0]), []).tolist() == []


def _mean_of_highest(intent: NDArray[np.float32], triggers: NDArray[np.float32], top_k: int) -> float:
    return float(np.sort(triggers @ intent)[-top_k:].mean(dtype=np.float64))


@given(st.lists(st.integers(0, 7), min_size=1, max_size=6), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_all_at_once_is_the_same_as_one_by_one(sizes: list[int], top_k: int, seed: int) -> None:
    """Scoring all capabilities together gives each the score that it has alone."""
    random = np.random.default_rng(seed)
    triggers = unit(*random.normal(size=(sum(sizes) + 1, 8)).tolist())
    intent = unit(random.normal(size=8).tolist())[0]
    stops = np.cumsum(sizes).tolist()
    rows = [(stop - size, stop) for size, stop in zip(sizes, stops, strict=True)]
    alone = [_mean_of_highest(intent, triggers[a:b], top_k) if b > a else 0.0 for a, b in rows]
    assert capability_scores(intent, triggers, rows, top_k) == pytest.approx(alone, abs=1e-6)


@given(st.integers(0, 300), st.integers(1, 400), st.integers(0, 2**32 - 1))
def test_products_are_those_of_the_matrix_also_turned(count: int, wide: int, seed: int) -> None:
    """Row by row, or on a matrix that is a turned view, products are the matrix product's."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(count, wide)).astype(np.float32)
    vector = random.normal(size=wide).astype(np.float32)
    wanted = (rows.astype(np.float64) @ vector.astype(np.float64)).tolist()
    assert dots(rows, vector).tolist() == pytest.approx(wanted, abs=1e-3)
    assert dots(np.ascontiguousarray(rows.T).T, vector).tolist() == pytest.approx(wanted, abs=1e-3)


def test_rows_that_are_not_there_have_no_products() -> None:
    """A bundle without triggers has no rows, of whatever length."""
    assert dots(np.zeros((0, 1), np.float32), np.zeros(8, np.float32)).tolist() == []
