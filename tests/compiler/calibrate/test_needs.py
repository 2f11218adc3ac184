"""The library of needs, and which of them a capability meets."""

import hashlib

import numpy as np
import pytest
from numpy.typing import NDArray

from octoc.compiler.calibrate.fit import fit_classifier
from octoc.compiler.calibrate.matching import Match, gains, helpful, library_examples, match, nearness
from octoc.compiler.calibrate.needs.library import Need, library_texts, shipped_needs
from octoc.compiler.calibrate.texts import Example, examples, follow_up_lines, further_background
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability
from octoc.diagnostics.model import Place
from octoc.routing.classifier import Classifier

PLACE = Place(file="config.toml")
NEEDS = (
    Need("containers", "run docker containers", ("start the docker container", "which image runs", "container logs")),
    Need("history", "the git history", ("undo my commit", "who touched the branch", "git blame this")),
    Need("weather", "weather forecast", ("will it rain tomorrow", "temperature in Oslo", "is a storm coming")),
)


def capability(name: str, *triggers: str) -> Capability:
    """Return a capability that is known by these triggers."""
    texts = tuple(Located(text, PLACE) for text in triggers)
    return Capability(name=name, tap="t", provider="p", place=PLACE, triggers=texts)


CAPABILITIES = (
    capability("docker", "docker container logs", "start a docker image"),
    capability("git", "git commit", "show the git branch"),
    capability("silent"),
)


def vector(text: str) -> NDArray[np.float32]:
    """Return the sum of a fixed random direction per word, as a unit vector: shared words make near vectors."""
    row = np.zeros(64)
    for word in text.lower().split():
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        row += np.random.default_rng(seed).normal(size=64)
    unit: NDArray[np.float32] = (row / (np.linalg.norm(row) or 1.0)).astype(np.float32)
    return unit


def vectors(capabilities: tuple[Capability, ...] = CAPABILITIES) -> dict[str, NDArray[np.float32]]:
    """Return the vector of every text that a fit may need."""
    texts = [example.text for example in (*examples(capabilities), *further_background())]
    return {text: vector(text) for text in (*texts, *library_texts(NEEDS), *follow_up_lines())}


def test_the_shipped_needs_are_sound() -> None:
    """Every need has a sentence and a dozen messages or more, and no message belongs to two needs."""
    needs = shipped_needs()
    assert len(needs) > 200
    assert [need.name for need in needs if not need.about.strip() or len(need.says) < 12] == []
    texts = [text for need in needs for text in need.says]
    assert sorted({text for text in texts if texts.count(text) > 1}) == []


def test_a_need_goes_to_the_capability_that_meets_it() -> None:
    """Needs whose messages are near one capability are its own, and one that is near none is a near miss."""
    found = {one.need.name: one.capability for one in match(CAPABILITIES, NEEDS, vectors())}
    assert found == {"containers": "docker", "history": "git", "weather": None}


def test_nearness_is_a_share() -> None:
    """Nearness is between 0 and 1, a row per capability with triggers and a column per need."""
    near = nearness(CAPABILITIES[:2], NEEDS, vectors())
    assert near.shape == (2, 3)
    assert (near >= 0).all()
    assert (near <= 1).all()


def test_without_needs_or_capabilities_nothing_matches() -> None:
    """An empty library and a workspace without triggers have no matches."""
    assert match(CAPABILITIES, (), vectors()) == ()
    assert match(CAPABILITIES[2:], NEEDS, vectors()) == ()


def test_met_needs_are_examples_and_missed_ones_background() -> None:
    """A met need's messages count for its capability, a missed one's for none, with less weight than a trigger."""
    found = list(library_examples(match(CAPABILITIES, NEEDS, vectors())))
    own = {example.text: example.capability for example in found}
    assert own["which image runs"] == "docker"
    assert own["will it rain tomorrow"] is None
    assert all(example.weight < 1 and not example.own for example in found)


def fitted(needs: tuple[Need, ...]) -> Classifier:
    """Return the classifier that is learned with these needs."""
    known = vectors()
    library = tuple(library_examples(match(CAPABILITIES, needs, known))) if needs else ()
    return Classifier.of(*fit_classifier(examples(CAPABILITIES), library, known, follow_up_lines()))


def test_a_message_without_a_triggers_word_is_found_by_its_need() -> None:
    """What no trigger says and a need does activates the capability more surely with the library than without."""
    message = "undo my commits, who touched it"
    names = ("docker", "git")
    with_needs, _ = fitted(NEEDS).probabilities(message, vector(message), names)
    without, _ = fitted(()).probabilities(message, vector(message), names)
    assert with_needs["git"] > 2 * without["git"]


def test_a_near_miss_is_for_nobody() -> None:
    """A message like a need that no capability meets has the background for its likeliest class."""
    message = "will it rain in Oslo"
    shares, background = fitted(NEEDS).probabilities(message, vector(message), ("docker", "git"))
    assert background > max(shares.values())


def test_needs_that_nothing_meets_are_one_vector_each() -> None:
    """What is kept of a missed need is its middle; few needs leave examples as the encoder makes them."""
    known = vectors()
    library = tuple(library_examples(match(CAPABILITIES, NEEDS, known)))
    data, arrays = fit_classifier(examples(CAPABILITIES), library, known, follow_up_lines())
    starts = data["nearby"]["starts"]
    assert (len(starts), len(arrays["examples"]) - starts[-1]) == (4, 1)
    assert "space" not in arrays


def test_follow_ups_are_learned_too() -> None:
    """What leaves out what it is about goes on with an earlier message; thanks do not."""
    classifier = fitted(NEEDS)
    for text, goes_on in (("and the second one?", True), ("thank you so much", False)):
        assert (classifier.goes_on(text, vector(text)) > 0.5) == goes_on


@pytest.mark.parametrize("encoder", [True, False])
def test_many_capabilities_are_learned_by_the_same_method(encoder: bool) -> None:
    """300 capabilities are learned as a few are, with and without vectors, and each one's own words are found."""
    many = tuple(
        capability(f"cap{n}", f"handle thing{n} now", f"open thing{n}", f"thing{n} report") for n in range(300)
    )
    found = examples(many)
    known = vectors(many) if encoder else None
    data, arrays = fit_classifier(found, (), known, follow_up_lines())
    assert (data["method"], "grams" in data) == ("logistic", True)
    classifier = Classifier.of(data, arrays)
    names = tuple(one.name for one in many)
    right = 0
    for number in range(0, 300, 30):
        message = f"please report thing{number}"
        shares, _ = classifier.probabilities(message, vector(message) if encoder else None, names)
        right += max(names, key=shares.__getitem__) == f"cap{number}"
    assert right >= 8


def test_the_vocabulary_is_that_of_the_workspace() -> None:
    """Words of only the further examples are in no n-gram."""
    data, _ = fit_classifier(
        examples(CAPABILITIES), (Example("rain", None, 0.1),), vectors() | {"rain": vector("rain")}, {}
    )
    assert data["method"] == "logistic"
    assert "rain" not in data["grams"]


RIVALS = (
    capability("logs", "show the logs", "show me the logs"),
    capability("maps", "show the map", "show me the map"),
)


@pytest.mark.parametrize("says,expected", [(("open first second",), True), ((), False)])
def test_needs_help_if_they_leave_triggers_likely(says: tuple[str, ...], expected: bool) -> None:
    """A need whose messages are like the triggers of its capability helps; without a match none does."""
    matches = [Match(Need("of-logs", "", says), "logs" if says else None)]
    texts = [*says, *(trigger.value for one in RIVALS for trigger in one.triggers)]
    gained = gains(RIVALS, matches, {text: vector(text) for text in texts})
    assert helpful(RIVALS, matches, gained) == expected
