"""A bundle's gate, made ready."""

import subprocess
import sys
import zlib
from typing import Any

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

from octoc.bundle.model import CapabilityEntry, Gate
from octoc.routing.classifier import Classifier
from octoc.routing.decision import Method, Reason
from octoc.routing.features import Hashed, fit
from octoc.routing.follow_up import CUES
from octoc.routing.gate import of_clauses
from octoc.routing.router import Router, load_router

CAPABILITIES = (
    CapabilityEntry(name="docker", provider="p", rows=(0, 2)),
    CapabilityEntry(name="empty", provider="p", rows=(2, 2)),
    CapabilityEntry(name="git", provider="p", rows=(2, 3)),
)
TRIGGERS = np.eye(4, dtype=np.float32)[[0, 1, 2]]
EVERY = ("git", "docker", "empty")
INTENT = "show the containers"


def vector(*values: float) -> NDArray[np.float32]:
    """Return a unit vector."""
    row = np.array(values, np.float32)
    unit: NDArray[np.float32] = row / np.linalg.norm(row)
    return unit


def octomind(threshold: float = 0.55, margin: float = 0.08) -> Router:
    """Return Octomind's gate over the triggers above."""
    return load_router(Gate(kind="octomind", threshold=threshold, margin=margin), {}, TRIGGERS, CAPABILITIES)


def calibrated() -> Router:
    """Return a small calibrated gate: docker likes the first axis, git the third; the background has a bias."""
    grams, idf = fit(["show the containers", "git log"], 50)
    lexical = np.zeros((len(grams), 3), np.float16)
    lexical[grams.index("git"), 1] = 8.0
    arrays: dict[str, NDArray[Any]] = {
        "mean": np.zeros(4, np.float32),
        "vector_weights": np.array([[6, 0, 0, 0], [0, 0, 6, 0], [0, 0, 0, 0]], np.float16),
        "gram_weights": lexical,
        "bias": np.array([0, 0, 2], np.float32),
        "idf": np.array(idf, np.float32),
    }
    gate = Gate(kind="calibrated", threshold=0.175, data={"classes": ["docker", "git"], "grams": grams})
    return load_router(gate, arrays, TRIGGERS, CAPABILITIES)


def test_octominds_router_scores_the_candidates_alone() -> None:
    """Scores are means of cosines with each candidate's own triggers, 0 for one without."""
    decision = octomind().decide(INTENT, vector(0.6, 0.8, 0, 0), EVERY)
    assert list(decision.scores) == ["docker", "empty", "git"]
    assert decision.scores["docker"] == pytest.approx(0.7)
    assert (decision.capability, decision.reason) == ("docker", Reason.ACTIVATED)
    assert octomind().decide(INTENT, vector(0.6, 0.8, 0, 0), ["git"]).capability is None


def test_the_calibrated_router_compares_with_the_background() -> None:
    """A clear message activates, one that is near no class has the background as its reason."""
    router = calibrated()
    assert router.decide(INTENT, vector(1, 0, 0, 0), EVERY).capability == "docker"
    lost = router.decide(INTENT, vector(0, 0, 0, 1), EVERY)
    assert (lost.capability, lost.reason) == (None, Reason.BACKGROUND)


def test_characters_count_beside_the_vector() -> None:
    """A capability's own word carries a message whose vector says nothing."""
    router = calibrated()
    assert router.decide("look at git history", vector(0, 0, 0, 1), EVERY).capability == "git"
    assert router.decide("look at old history", vector(0, 0, 0, 1), EVERY).capability is None


def test_what_is_no_candidate_takes_no_part() -> None:
    """Probabilities are shared among the candidates and the background only."""
    router = calibrated()
    both = router.decide(INTENT, vector(1, 0, 1, 0), ["docker", "git"]).scores
    alone = router.decide(INTENT, vector(1, 0, 1, 0), ["docker"]).scores
    assert set(alone) == {"docker"}
    assert alone["docker"] > both["docker"]
    # exp(6 / sqrt 2) against the background's exp(2) alone.
    assert alone["docker"] == pytest.approx(1 / (1 + np.exp(2 - 6 / np.sqrt(2))), abs=1e-4)


def test_a_candidate_without_triggers_has_probability_zero() -> None:
    """A capability that the classifier does not know is ranked last, never activated."""
    decision = calibrated().decide(INTENT, vector(1, 0, 0, 0), ["empty"])
    assert decision.scores == {"empty": 0.0}
    assert decision.capability is None


@pytest.mark.parametrize("router", [octomind(0.0, 0.0), calibrated()], ids=["octomind", "calibrated"])
@pytest.mark.parametrize(
    "intent,embedded,candidates,reason",
    [
        ("do it", vector(1, 0, 0, 0), EVERY, Reason.TOO_SHORT),
        (INTENT, vector(1, 0, 0, 0), (), Reason.NO_CANDIDATES),
        (INTENT, None, EVERY, Reason.NO_ENCODER),
    ],
)
def test_what_is_not_scored_says_why(
    router: Router, intent: str, embedded: NDArray[np.float32] | None, candidates: tuple[str, ...], reason: Reason
) -> None:
    """A short message, an empty scope and a missing encoder abstain with their own reason and no scores."""
    decision = router.decide(intent, embedded, candidates)
    assert (decision.capability, decision.reason, decision.scores) == (None, reason, {})


def test_an_unknown_gate_is_refused() -> None:
    """A gate of another kind is an error that names the known ones."""
    with pytest.raises(ValueError, match="expected `calibrated` or `octomind`"):
        load_router(Gate(kind="oracle", threshold=0.5), {}, TRIGGERS, CAPABILITIES)  # type: ignore[arg-type]


def test_arrays_that_do_not_fit_are_refused() -> None:
    """A classifier whose arrays are of another shape than its classes is an error, not a wrong decision."""
    arrays: dict[str, NDArray[Any]] = {
        name: np.zeros((2, 2), np.float32) for name in ("mean", "vector_weights", "gram_weights", "bias", "idf")
    }
    with pytest.raises(ValueError, match="shapes"):
        Classifier.of({"classes": ["a"], "grams": ["xy"]}, arrays)


def wordy(**data: Any) -> Router:
    """Return a gate with a model of words beside the full one, and with follow-ups along the second axis."""
    full = calibrated()
    assert full.classifier is not None
    grams = list(full.gate.data["grams"])
    words = np.zeros((len(grams), 3), np.float16)
    words[grams.index("git"), 1] = 8.0
    arrays: dict[str, NDArray[Any]] = {
        "mean": np.zeros(4, np.float32),
        "vector_weights": np.array([[6, 0, 0, 0], [0, 0, 6, 0], [0, 0, 0, 0]], np.float16),
        "gram_weights": words,
        "bias": np.array([0, 0, 2], np.float32),
        "idf": np.ones(len(grams), np.float32),
        "word_weights": words,
        "word_bias": np.array([0, 0, 2], np.float32),
        "follow_weights": np.array([0, 9, 0, 0, *[0] * CUES], np.float32),
        "follow_bias": np.array([-3], np.float32),
    }
    known = {"classes": ["docker", "git"], "grams": grams, **data}
    return load_router(Gate(kind="calibrated", threshold=0.175, data=known), arrays, TRIGGERS, CAPABILITIES)


def test_without_a_vector_words_alone_decide() -> None:
    """A bundle with a model of words decides without an encoder, says so, and has a threshold of its own for it."""
    decision = wordy().decide("look at git history", None, EVERY)
    assert (decision.capability, decision.method) == ("git", Method.WORDS)
    strict = wordy(words_threshold=0.999).decide("look at git history", None, EVERY)
    assert (strict.capability, strict.threshold) == (None, 0.999)


def test_a_bundle_that_was_built_without_an_encoder_asks_for_none() -> None:
    """With a model of words alone no vector is of use, and none is needed."""
    grams, idf = fit(["git log"], 50)
    words = np.zeros((len(grams), 2), np.float16)
    words[grams.index("git"), 0] = 9.0
    arrays: dict[str, NDArray[Any]] = {
        "idf": np.array(idf, np.float32),
        "word_weights": words,
        "word_bias": np.zeros(2, np.float32),
    }
    gate = Gate(kind="calibrated", threshold=0.5, data={"classes": ["git"], "grams": grams})
    router = load_router(gate, arrays, TRIGGERS, CAPABILITIES)
    assert (router.uses_vector, router.needs_vector) == (False, False)
    assert router.decide("show the git log", None, ["git"]).capability == "git"
    assert calibrated().needs_vector


@pytest.mark.parametrize("reason", [Reason.ALREADY_ACTIVE, Reason.GRANTED, Reason.NOT_READY])
def test_what_is_held_competes_and_is_not_activated(reason: Reason) -> None:
    """A message for one that cannot be activated falls to no sibling; the decision says whose it is, and why."""
    near_both = vector(1, 0, 0.6, 0)
    decision = calibrated().decide(INTENT, near_both, ["git"], {"docker": reason})
    assert (decision.capability, decision.winner, decision.reason) == (None, "docker", reason)
    assert calibrated().decide(INTENT, near_both, ["git"]).capability == "git"


def test_of_octominds_gate_boot_capabilities_alone_compete() -> None:
    """Active ones and those that are not ready leave its list, as in Octomind; a granted one wins without effect."""
    message = vector(1, 1, 0, 0)
    gate = octomind(0.3)
    granted = gate.decide(INTENT, message, ["git"], {"docker": Reason.GRANTED})
    assert (granted.capability, granted.winner, granted.reason) == (None, "docker", Reason.GRANTED)
    for reason in (Reason.ALREADY_ACTIVE, Reason.NOT_READY):
        decision = gate.decide(INTENT, vector(0, 0, 1, 0), ["git"], {"docker": reason})
        assert (decision.capability, list(decision.scores)) == ("git", ["git"])


def test_a_compound_request_may_activate_more_than_one() -> None:
    """With `max_per_message` further capabilities that reach the threshold are activated too, held ones left out."""
    message = vector(1, 0, 1, 0)
    assert wordy().decide(INTENT, message, EVERY).also == ()
    both = wordy(max_per_message=2).decide(INTENT, message, EVERY)
    assert (both.capability, both.also) == ("docker", ("git",))
    one = wordy(max_per_message=2).decide(INTENT, message, ["git"], {"docker": Reason.ALREADY_ACTIVE})
    assert (one.capability, one.also, one.winner) == ("git", (), "docker")


def test_follow_ups_are_told_by_the_vector_where_the_gate_looks_at_them() -> None:
    """A message goes on with an earlier one by its vector alone; a gate that does not look at earlier ones says no."""
    assert wordy(follow_ups=True).goes_on("and that", vector(0, 1, 0, 0))
    assert not wordy(follow_ups=True).goes_on("and that", vector(1, 0, 0, 0))
    assert not wordy(follow_ups=True).goes_on("and that", None)
    assert not wordy(follow_ups=False).goes_on("and that", vector(0, 1, 0, 0))
    assert not octomind().goes_on("and that", vector(0, 1, 0, 0))


def test_clauses_activate_whoever_wins_one_of_them() -> None:
    """Who wins a clause is activated beside who wins the whole, the best first; who only comes second is not."""
    router = wordy()
    whole = router.decide(INTENT, vector(1, 0, 0.9, 0), EVERY)
    first, second = router.decide(INTENT, vector(1, 0, 0, 0), EVERY), router.decide(INTENT, vector(0, 0, 1, 0), EVERY)
    nobody = router.decide(INTENT, vector(0, 0, 0, 1), EVERY)
    both = of_clauses(whole, (first, second), {}, 2)
    assert (both.capability, both.also) == ("docker", ("git",))
    assert of_clauses(whole, (first, second), {}, 1).also == ()
    assert of_clauses(wordy(max_per_message=2).decide(INTENT, vector(1, 0, 1, 0), EVERY), (), {}, 2).also == ()
    assert of_clauses(whole, (first, nobody), {}, 2).also == ()
    assert of_clauses(nobody, (nobody, nobody), {}, 2) == nobody
    assert of_clauses(nobody, (nobody, second), {}, 2).capability == "git"
    held = of_clauses(whole, (first, second), {"docker": Reason.ALREADY_ACTIVE}, 2)
    assert (held.capability, held.winner) == ("git", "docker")


def test_hashed_ngrams_need_no_vocabulary() -> None:
    """A gate of many capabilities numbers n-grams by a digest: the same text has the same unit row in every process."""
    columns, values = Hashed(64).transform("show the git log")
    assert (min(columns) >= 0, max(columns) < 64) == (True, True)
    assert sum(value * value for value in values) == pytest.approx(1.0)
    assert [row.tolist() for row in Hashed(64).transform("")] == [[], []]
    assert Hashed(1 << 20).transform("git")[0][:2].tolist() == [zlib.crc32(gram) % (1 << 20) for gram in (b" g", b"gi")]


def test_cleaning_and_reasons_need_no_numpy() -> None:
    """Cleaning a message and its reasons load no numpy: a message that never routes costs none."""
    program = (
        "import sys, octoc.routing.decision; from octoc.routing.clean import clean_intent, is_routable; "
        "is_routable(clean_intent('x')); print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def in_english(**changes: Any) -> Router:
    """Return the gate of `wordy` with vectors that cover English, and a capability whose texts have a word."""
    own = {"docker": ("list the containers",), "git": ("git log",)}
    return attrs.evolve(wordy(), languages=frozenset({"English"}), own=own, **changes)


def test_a_language_alone_is_no_evidence() -> None:
    """A message in a language that vectors do not cover activates only what it shares a word with."""
    router, near_docker = in_english(), vector(1, 0, 0, 0)
    alone = router.decide("je ne sais pas si je dois accepter", near_docker, EVERY)
    assert (alone.capability, alone.winner, alone.reason) == (None, None, Reason.OTHER_LANGUAGE)
    named = router.decide("montre-moi tous les containers de la machine", near_docker, EVERY)
    assert named.capability == "docker"
    assert router.decide("show what runs on the machine", near_docker, EVERY).capability == "docker"
    every = attrs.evolve(router, languages=frozenset())
    assert every.decide("je ne sais pas si je dois accepter", near_docker, EVERY).capability == "docker"


def test_a_script_that_vectors_do_not_cover_is_decided_by_words() -> None:
    """Its vector is neither asked for nor used, and a name in the message still counts."""
    router, near_docker = in_english(), vector(1, 0, 0, 0)
    text = "查看所有正在运行的容器"
    assert not router.wants_vector(text, EVERY, ())
    assert router.foreign_script(text) == "Chinese"
    decision = router.decide(text, near_docker, EVERY)
    assert (decision.capability, decision.method) == (None, Method.WORDS)
    assert router.decide("查看 git 历史记录", near_docker, EVERY).capability == "git"
    covered = attrs.evolve(router, languages=frozenset({"English", "Chinese"}))
    assert covered.decide(text, near_docker, EVERY).capability == "docker"
