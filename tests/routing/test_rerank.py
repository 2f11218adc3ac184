"""What is nearby weighs the likeliest capability's probability."""

from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.routing.evidence import Evidence
from octoc.routing.rerank import Reranker, Space, stems

VECTORS = np.array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 1.0, 0], [0, 0, 1.0]], np.float16)
DATA: dict[str, Any] = {
    "starts": [0, 2, 3, 4],
    "names": {"docke": [2.0, [0]], "git": [1.0, [1]], "log": [1.0, [1]]},
    "says": [[[0]], [[1, 2]]],
}
CLASSES = ("docker", "git")
NEARBY = Reranker.of(DATA, CLASSES, VECTORS)


def toward(*direction: float) -> np.ndarray:
    """Return a unit vector."""
    row = np.array(direction, np.float32)
    return (row / np.linalg.norm(row)).astype(np.float32)


def judged(
    nearby: Reranker, text: str, vector: np.ndarray, shares: dict[str, float]
) -> tuple[dict[str, float], float] | None:
    """Return what `judge` says, by name."""
    found = nearby.judge(text, vector, tuple(shares), np.array(list(shares.values())))
    return None if found is None else (dict(zip(shares, found[0].tolist(), strict=True)), found[1])


def test_nearness_to_own_examples_raises_and_to_the_background_lowers() -> None:
    """The same probabilities activate more surely near the capability's examples than near the background's."""
    shares = {"docker": 0.3, "git": 0.1}
    near = judged(NEARBY, "run it", toward(1, 0.2, 0), shares)
    far = judged(NEARBY, "run it", toward(0.2, 0, 1), shares)
    assert near is not None
    assert far is not None
    assert near[0]["docker"] > 0.5 > far[0]["docker"]
    assert far[1] > 0.5


def test_a_rare_word_of_the_capability_raises() -> None:
    """A message that names the capability activates it more surely, in whatever form the word stands."""
    shares = {"docker": 0.3, "git": 0.1}
    named = judged(NEARBY, "dockerised already", toward(1, 1, 1), shares)
    other = judged(NEARBY, "git it already", toward(1, 1, 1), shares)
    assert named is not None
    assert other is not None
    assert named[0]["docker"] > other[0]["docker"]


def test_two_words_of_one_trigger_raise() -> None:
    """A message with several words of a trigger activates more surely; one word alone adds nothing."""
    shares = {"docker": 0.1, "git": 0.3}
    said = judged(NEARBY, "log of git, now", toward(1, 1, 1), shares)
    half = judged(NEARBY, "git it now", toward(1, 1, 1), shares)
    assert said is not None
    assert half is not None
    assert said[0]["git"] > half[0]["git"]
    assert NEARBY.said("log of git", "git") == pytest.approx(1)
    assert NEARBY.said("git it now", "git") == 0


def test_the_examples_can_put_another_candidate_first() -> None:
    """The message's words and examples decide between two equally likely candidates."""
    found = judged(NEARBY, "docker ps", toward(1, 0, 0), {"docker": 0.24, "git": 0.25})
    assert found is not None
    assert found[0]["docker"] > found[0]["git"]


def test_a_clear_lead_raises() -> None:
    """Who is far ahead of the next one activates more surely than who is level with it."""
    ahead = judged(NEARBY, "x", toward(1, 1, 1), {"docker": 0.3, "git": 0.01})
    level = judged(NEARBY, "x", toward(1, 1, 1), {"docker": 0.3, "git": 0.3})
    assert ahead is not None
    assert level is not None
    assert ahead[0]["docker"] > level[0]["docker"]


def test_a_need_that_nothing_meets_lowers() -> None:
    """A message near a need that no capability meets activates less surely."""
    met = Reranker.of({**DATA, "starts": [0, 2, 3, 3]}, CLASSES, VECTORS[:3])
    with_missed = Reranker.of(DATA, CLASSES, np.concatenate([VECTORS[:3], VECTORS[:1]]))
    shares = {"docker": 0.3, "git": 0.1}
    near, far = judged(with_missed, "x", toward(1, 0, 0), shares), judged(met, "x", toward(1, 0, 0), shares)
    assert near is not None
    assert far is not None
    assert near[0]["docker"] < far[0]["docker"]


def test_a_space_is_where_vectors_are_compared() -> None:
    """A direction that the space leaves out makes no difference."""
    space = Space(mean=np.zeros(3, np.float32), axes=np.eye(3, dtype=np.float32)[:2])
    flat = Reranker.of(DATA, CLASSES, VECTORS[:, :2], space)
    shares = {"docker": 0.3, "git": 0.1}
    assert judged(flat, "x", toward(1, 1, 0), shares) == judged(flat, "x", toward(1, 1, 9), shares)
    with pytest.raises(ValueError, match="their space"):
        Reranker.of(DATA, CLASSES, VECTORS, space)


MANY = {
    "starts": [0, 2, *[3] * 99, 4],
    "names": {"about": [4.0, [0]], "docke": [2.0, [0]], "image": [3.0, [0, 1]]},
    "says": [[]] * 100,
    "evidence": {"words": 0.4, "asks": 0.2, "size": -0.8, "bias": -2.0},
}
"""A hundred capabilities with further evidence; only the first has examples."""


def test_words_of_the_capability_and_asking_are_further_evidence() -> None:
    """Each rare word that the first candidate's texts have raises all candidates alike; a function word does not."""
    names = ("docker", *(f"other{number}" for number in range(99)))
    nearby = Reranker.of(MANY, names, VECTORS)
    assert nearby.told("about docker images", "docker") == 5
    assert nearby.told("about docker images", "other0") == 3
    shares = {"docker": 0.3, "other0": 0.1}
    without = judged(attrs.evolve(nearby, evidence=None), "docker images", toward(1, 1, 1), shares)
    found = judged(nearby, "docker images", toward(1, 1, 1), shares)
    assert without is not None
    assert found is not None
    for name in shares:
        odds = [np.log(share[name] / (1 - share[name])) for share in (found[0], without[0])]
        assert odds[0] - odds[1] == pytest.approx(0.4 * 5 - 2, abs=1e-6)
    asking = nearby.judge("docker images", toward(1, 1, 1), tuple(shares), np.array([0.3, 0.1]), 2.0)
    assert asking is not None
    assert asking[0][0] > found[0]["docker"]


def test_further_evidence_counts_from_thirty_capabilities_on() -> None:
    """Few capabilities are decided as without it; from then on it grows with their number, and has its own size."""
    evidence = Evidence(words=1, asks=1, size=-1, bias=-1)
    assert evidence.odds(9, 9, 30) == 0
    assert 0 < evidence.odds(9, 9, 60) < evidence.odds(9, 9, 100)
    assert evidence.odds(9, 9, 100) == pytest.approx(17)
    assert evidence.odds(9, 9, 271) == pytest.approx(16, abs=0.01)


@given(
    st.lists(st.floats(0, 0.2), min_size=5, max_size=5).filter(any),
    st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(any),
    st.text(),
)
def test_shares_are_probabilities_and_the_unlikely_stay_behind(
    shares: list[float], way: list[float], text: str
) -> None:
    """The best share and the share of no capability sum to one, and an unlikely candidate overtakes no other."""
    names = ("a", "b", "c", "d", "e")
    data = {"starts": [0, 1, 1, 1, 1, 2, 3], "names": {}, "says": [[]] * 5}
    given_shares = dict(zip(names, shares, strict=True))
    direction = toward(*way) if np.linalg.norm(way) > 1e-6 else toward(1, 0, 0)
    found = judged(Reranker.of(data, names, VECTORS), text, direction, given_shares)
    assert found is not None
    weighed, nobody = found
    order = sorted(names, key=lambda name: -given_shares[name])
    assert max(weighed.values()) + nobody == pytest.approx(1)
    assert all(0 <= share <= 1 for share in weighed.values())
    assert min(weighed[name] for name in order[:3]) >= max(weighed[name] for name in order[3:]) or not all(
        given_shares[name] for name in order[:3]
    )


def test_without_a_probability_there_is_nothing_to_weigh() -> None:
    """No candidate, or none that the classifier knows, is left as it is."""
    assert judged(NEARBY, "x", toward(1, 0, 0), {}) is None
    assert judged(NEARBY, "x", toward(1, 0, 0), {"docker": 0.0}) is None


def test_starts_that_do_not_fit_are_refused() -> None:
    """A start per class and one of the background are expected, in order and inside the vectors."""
    for starts in ([0, 2, 3], [0, 3, 2, 4], [0, 2, 3, 9]):
        with pytest.raises(ValueError, match="expected a start per class"):
            Reranker.of({**DATA, "starts": starts}, CLASSES, VECTORS)


def test_words_are_known_by_their_beginnings() -> None:
    """Case, endings and signs make no difference; single letters are left out."""
    assert stems("The Dockers, docker-run a") == {"the", "docke", "run"}
