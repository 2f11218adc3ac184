"""The two gates on scores alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.routing.decision import Reason
from octoc.routing.gate import CALIBRATED_THRESHOLD, FOLLOW_SHARE, calibrated_gate, eased, octomind_gate

WORKED = {"docker": 0.61, "kubernetes": 0.55, "shell": 0.30}


@pytest.mark.parametrize(
    "scores,capability,reason",
    [
        (WORKED, None, Reason.MARGIN),
        ({"kubernetes": 0.55, "shell": 0.30}, "kubernetes", Reason.ACTIVATED),
        ({"docker": 0.54, "shell": 0.1}, None, Reason.BELOW_THRESHOLD),
        ({"docker": 0.55}, "docker", Reason.ACTIVATED),
        ({"b": 0.75, "a": 0.75}, None, Reason.MARGIN),
        ({"b": 0.75, "a": 0.5}, "b", Reason.ACTIVATED),
        ({}, None, Reason.NO_CANDIDATES),
    ],
)
def test_octominds_gate(scores: dict[str, float], capability: str | None, reason: Reason) -> None:
    """The best must reach the threshold and lead the second, a lone one leads 0; what is active changes the outcome."""
    decision = octomind_gate(scores, 0.55, 0.08)
    assert (decision.capability, decision.reason) == (capability, reason)
    assert (decision.threshold, decision.margin) == (0.55, 0.08)


def test_equal_scores_are_ranked_by_name() -> None:
    """Ties stand in the order of names, whatever order the scores came in."""
    decision = octomind_gate({"b": 0.5, "c": 0.9, "a": 0.5}, 0.55, 0.08)
    assert list(decision.scores.items()) == [("c", 0.9), ("a", 0.5), ("b", 0.5)]
    assert octomind_gate({"b": 0.9, "a": 0.9}, 0.55, 0.0).capability == "a"


@pytest.mark.parametrize(
    "probabilities,background,capability,reason",
    [
        ({"docker": 0.175, "shell": 0.1}, 0.725, "docker", Reason.ACTIVATED),
        ({"docker": 0.17, "shell": 0.1}, 0.73, None, Reason.BACKGROUND),
        ({"docker": 0.17, "shell": 0.16}, 0.1, None, Reason.BELOW_THRESHOLD),
        ({"docker": 0.17}, 0.17, None, Reason.BACKGROUND),
        ({}, 1.0, None, Reason.NO_CANDIDATES),
    ],
)
def test_the_calibrated_gate(
    probabilities: dict[str, float], background: float, capability: str | None, reason: Reason
) -> None:
    """The probability of the best decides, the reason says whether the background was likelier."""
    decision = calibrated_gate(probabilities, background, CALIBRATED_THRESHOLD)
    assert (decision.capability, decision.reason) == (capability, reason)


SCORES = st.dictionaries(st.text(min_size=1), st.floats(-1, 1), max_size=6)


@given(SCORES, st.floats(-1, 1), st.floats(0, 1))
def test_only_the_best_is_ever_activated(scores: dict[str, float], threshold: float, margin: float) -> None:
    """What is activated is the first of the ranking, and the ranking is complete."""
    decision = octomind_gate(scores, threshold, margin)
    assert decision.scores == scores
    if decision.capability is not None:
        assert scores[decision.capability] == max(scores.values()) >= threshold


@pytest.mark.parametrize(
    "score, reason",
    [(0.4, Reason.ACTIVATED), (FOLLOW_SHARE / 2, Reason.ACTIVATED), (0.3, Reason.BELOW_THRESHOLD)],
)
def test_a_message_that_continues_another_one_needs_less(score: float, reason: Reason) -> None:
    """It reaches a share of the threshold, and a capability that cannot be activated wins as ever."""
    decision = calibrated_gate({"git": score, "docker": 0.1}, 0.2, 0.5)
    assert decision.reason is Reason.BELOW_THRESHOLD
    assert eased(decision).reason is reason
    assert eased(decision).winner == ("git" if reason is Reason.ACTIVATED else None)
    assert eased(decision, {"git": Reason.ALREADY_ACTIVE}).capability is None


def test_only_a_score_below_the_threshold_is_eased() -> None:
    """A decision that abstains for another reason stays, and so does Octomind's."""
    decision = octomind_gate({"git": 0.5, "docker": 0.49}, 0.4, 0.08)
    assert eased(decision) is decision
