"""Explanations agree with what the router decides."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from octoc.bundle.model import CapabilityEntry, Gate
from octoc.choices import GateKind
from octoc.routing.decision import Reason
from octoc.routing.explain import NO_CAPABILITY, DecisionInputs, explain, stripped
from octoc.routing.features import fit
from octoc.routing.router import load_router
from octoc.testing import FakeEmbedder

TRIGGERS = {"docker": ("show the containers", "restart the web container"), "git": ("show the git log",)}
EMBEDDER = FakeEmbedder(dimension=32)


def field(
    kind: GateKind, *, encoder: bool = True, held: dict[str, Reason] | None = None, threshold: float = 0.4
) -> DecisionInputs:
    """Return what takes part: a gate of either kind over two capabilities, with made-up weights."""
    capabilities = []
    texts: list[str] = []
    for name, triggers in TRIGGERS.items():
        rows = (len(texts), len(texts) + len(triggers))
        capabilities.append(CapabilityEntry(name=name, provider="p", triggers=triggers, rows=rows))
        texts += triggers
    matrix = np.stack([EMBEDDER.embed(text) for text in texts])
    grams, idf = fit(texts, 200)
    dice = np.random.default_rng(7)
    weights = np.zeros((len(grams), 3))
    weights[:, 0] = [3.0 if "cont" in gram else 0.0 for gram in grams]
    weights[:, 1] = [3.0 if "git" in gram else 0.0 for gram in grams]
    words: dict[str, NDArray[Any]] = {
        "word_weights": weights.astype(np.float16), "word_bias": np.array([0.1, 0.0, 0.8], np.float32)
    }  # fmt: skip
    full: dict[str, NDArray[Any]] = {
        "mean": matrix.mean(axis=0),
        "vector_weights": dice.normal(size=(3, 32)).astype(np.float16),
        "gram_weights": weights.astype(np.float16),
        "bias": np.array([0.3, 0.0, 0.5], np.float32),
    }
    arrays = {**words, **(full if encoder else {}), "idf": np.array(idf, np.float32)}
    data = {"classes": ["docker", "git"], "grams": grams} if kind == "calibrated" else {}
    gate = Gate(kind=kind, threshold=threshold, margin=0.05 if kind == "octomind" else 0.0, top_k=1, data=data)
    return DecisionInputs(
        router=load_router(gate, arrays if kind == "calibrated" else {}, matrix, capabilities),
        capabilities={entry.name: entry for entry in capabilities},
        triggers=matrix,
        candidates=[name for name in TRIGGERS if name not in (held or {})],
        held=held or {},
        embed=EMBEDDER.embed if encoder else None,
    )


FIELDS = [("calibrated", True), ("calibrated", False), ("octomind", True)]


@pytest.mark.parametrize("kind,encoder", FIELDS)
def test_a_words_effect_is_what_leaving_it_out_does(kind: GateKind, encoder: bool) -> None:
    """The effect of each word is the router's own score with it less that without it, and so is what comes instead."""
    found = field(kind, encoder=encoder)
    text = "please show the git containers"
    explanation = explain(text, found)
    whole = found.decide(text)
    assert [effect.word for effect in explanation.words] == text.split()
    for effect in explanation.words:
        without = found.decide(" ".join(word for word in text.split() if word != effect.word))
        assert explanation.best is not None
        assert effect.effect == whole.scores[explanation.best] - without.scores[explanation.best]
        assert effect.instead == (None if without.capability == whole.capability else without.capability or "none")


@pytest.mark.parametrize("encoder", [True, False])
def test_the_parts_add_up_to_the_odds(encoder: bool) -> None:
    """Words, meaning and prior sum up to the logarithm of the best score over the rival's."""
    explanation = explain("restart the containers", field("calibrated", encoder=encoder))
    assert ("meaning" in explanation.parts) is encoder
    odds = math.log(explanation.best_score / explanation.rival_score)
    assert math.fsum(explanation.parts.values()) == pytest.approx(odds, abs=1e-4)


def test_the_nearest_trigger_is_by_cosine_or_by_words() -> None:
    """With an encoder the nearest trigger has the highest cosine, without one the largest share of equal words."""
    for encoder in (True, False):
        explanation = explain("restart the web container", field("calibrated", encoder=encoder))
        near = {one.capability: one for one in explanation.triggers}
        assert near["docker"].trigger == "restart the web container"
        assert near["docker"].similarity == pytest.approx(1.0)


@pytest.mark.parametrize("kind,encoder", FIELDS)
def test_a_threshold_that_would_change_the_decision_does(kind: GateKind, encoder: bool) -> None:
    """A decision to activate turns into abstaining right above the score that is named, and back at it."""
    text = "show the containers"
    explanation = explain(text, field(kind, encoder=encoder, threshold=0.0))
    assert explanation.best == "docker"
    assert any(f"a threshold above {explanation.best_score:.4f}" in change for change in explanation.changes)
    above = field(kind, encoder=encoder, threshold=explanation.best_score + 1e-6)
    assert above.decide(text).capability is None
    assert any("would activate `docker`" in change for change in explain(text, above).changes)
    assert field(kind, encoder=encoder, threshold=explanation.best_score).decide(text).capability == "docker"


def test_the_rival_may_be_no_capability_at_all() -> None:
    """Where the background is second, or first, it is the rival."""
    explanation = explain("show the containers", field("calibrated", encoder=False))
    assert explanation.rival == NO_CAPABILITY


def test_what_could_not_be_scored_is_said() -> None:
    """A message that is too short and one without candidates have no words, and say what they lack."""
    short = explain("git", field("calibrated"))
    assert (short.best, short.words) == (None, ())
    assert short.changes == ("at least 8 characters that are not blanks; it has 3",)


def test_a_winner_that_is_held_is_not_activated() -> None:
    """A capability that takes part and is not activated wins, and the reason is the router's."""
    explanation = explain("show the containers", field("calibrated", held={"docker": Reason.GRANTED}, threshold=0.1))
    assert explanation.best == "docker"
    assert "`docker` could be activated" in explanation.changes[0]


def test_lines_that_were_left_out_are_told() -> None:
    """Lines of a message that are not in its intent are named in order, cut short, each as often as it was dropped."""
    message = "fix this\n\n  x = 1\n  x = 1\nthanks\n" + "y" * 200
    assert stripped(message, "fix this\nthanks") == ("x = 1", "x = 1", f"{'y' * 119}…")
    assert stripped("fix this", "fix this") == ()
