"""What is nearby weighs the likeliest capability's probability."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.routing.nearby import Nearby, stems

VECTORS = np.array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 1.0, 0], [0, 0, 1.0]], np.float16)
DATA = {"starts": [0, 2, 3], "names": {"docke": [2.0, [0]], "git": [1.0, [1]]}}
CLASSES = ("docker", "git")
NEARBY = Nearby.of(DATA, CLASSES, VECTORS)


def toward(*direction: float) -> np.ndarray:
    """Return a unit vector."""
    row = np.array(direction, np.float32)
    return (row / np.linalg.norm(row)).astype(np.float32)


def test_nearness_to_own_examples_raises_and_to_the_background_lowers() -> None:
    """The same probabilities activate more surely near the capability's examples than near the background's."""
    shares = {"docker": 0.3, "git": 0.1}
    near = NEARBY.judge("run it", toward(1, 0.2, 0), shares)
    far = NEARBY.judge("run it", toward(0.2, 0, 1), shares)
    assert near is not None
    assert far is not None
    assert near[0]["docker"] > 0.5 > far[0]["docker"]
    assert far[1] > 0.5


def test_a_rare_word_of_the_capability_raises() -> None:
    """A message that names the capability activates it more surely, in whatever form the word stands."""
    shares = {"docker": 0.3, "git": 0.1}
    named = NEARBY.judge("dockerised already", toward(1, 1, 1), shares)
    other = NEARBY.judge("git it already", toward(1, 1, 1), shares)
    assert named is not None
    assert other is not None
    assert named[0]["docker"] > other[0]["docker"]


def test_a_clear_lead_raises() -> None:
    """Who is far ahead of the next one activates more surely than who is level with it."""
    ahead = NEARBY.judge("x", toward(1, 1, 1), {"docker": 0.3, "git": 0.01})
    level = NEARBY.judge("x", toward(1, 1, 1), {"docker": 0.3, "git": 0.29})
    assert ahead is not None
    assert level is not None
    assert ahead[0]["docker"] > level[0]["docker"]


@given(
    st.floats(1e-9, 0.5), st.floats(0, 0.5), st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(any), st.text()
)
def test_the_order_stays_and_shares_are_probabilities(first: float, second: float, way: list[float], text: str) -> None:
    """Whatever is nearby, no candidate overtakes another, and the best one and nobody sum to one."""
    shares = {"docker": first, "git": second}
    found = NEARBY.judge(text, toward(*way) if np.linalg.norm(way) > 1e-6 else toward(1, 0, 0), shares)
    assert found is not None
    weighed, nobody = found
    assert (weighed["docker"] >= weighed["git"]) == (first >= second)
    assert max(weighed.values()) + nobody == pytest.approx(1)
    assert all(0 <= share <= 1 for share in weighed.values())


def test_without_a_probability_there_is_nothing_to_weigh() -> None:
    """No candidate, or none that the classifier knows, is left as it is."""
    assert NEARBY.judge("x", toward(1, 0, 0), {}) is None
    assert NEARBY.judge("x", toward(1, 0, 0), {"docker": 0.0}) is None


def test_starts_that_do_not_fit_are_refused() -> None:
    """A start per class and one of the background are expected, in order and inside the vectors."""
    for starts in ([0, 2], [0, 3, 2], [0, 2, 9]):
        with pytest.raises(ValueError, match="expected a start per class"):
            Nearby.of({**DATA, "starts": starts}, CLASSES, VECTORS)


def test_words_are_known_by_their_beginnings() -> None:
    """Case, endings and signs make no difference; single letters are no words."""
    assert stems("The Dockers, docker-run a") == {"the", "docke", "run"}
