"""The texts that the gate is learned from."""

from octoc.compiler.calibrate.texts import background_lines, counter_triggers, examples
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability
from octoc.diagnostics.model import Place

PLACE = Place(file="x.toml")


def capability(name: str, *triggers: str, title: str = "", description: str = "") -> Capability:
    """Return a capability with these triggers."""
    return Capability(
        name=name,
        tap="t",
        provider="p",
        place=PLACE,
        title=title,
        description=description,
        triggers=tuple(Located(text, PLACE) for text in triggers),
    )


DOCKER = capability("docker", "list docker containers", "stop a container", description="Docker on this machine")
GIT = capability("git-log", "list the git commits", title="Git")


def test_each_text_has_its_class_and_weight() -> None:
    """Triggers weigh 1, name, title and description .3, the background .3, and triggers without their word .1."""
    found = {(example.text, example.capability): example.weight for example in examples([DOCKER, GIT])}
    assert found["stop a container", "docker"] == 1.0
    assert found["docker", "docker"] == 0.3
    assert found["Docker on this machine", "docker"] == 0.3
    assert found["git log", "git-log"] == 0.3
    assert found["Git", "git-log"] == 0.3
    assert found[background_lines()[0], None] == 0.3
    assert found["list containers", None] == 0.1
    assert all(text.strip() for text, _ in found)


def test_a_counter_trigger_lacks_the_word_that_names_the_capability() -> None:
    """The word goes that is frequent in the capability's own texts and rare in others."""
    assert list(counter_triggers([DOCKER, GIT])) == ["list containers", "a container", "list the commits"]


def test_every_occurrence_of_the_word_goes() -> None:
    """A word that stands twice goes twice, in any case; another word that contains it stays."""
    assert list(counter_triggers([capability("git", "git or Git, not gitlab", "git it")])) == ["or , not gitlab", "it"]


def test_a_trigger_of_one_word_has_no_counter_trigger() -> None:
    """Nothing is left of a one-word trigger, so it yields nothing; nor does one without any word."""
    assert list(counter_triggers([capability("git", "rebase!", "???")])) == []


def test_a_capability_without_triggers_is_no_class() -> None:
    """Neither its name nor its description is a training text."""
    found = examples([capability("quiet", description="says nothing"), GIT])
    assert {example.capability for example in found} == {"git-log", None}


def test_background_lines_are_texts_alone() -> None:
    """The shipped background has no comment, blank or repeated line."""
    lines = background_lines()
    assert len(lines) >= 40
    assert all(line.strip() == line and line and not line.startswith("#") for line in lines)
    assert len(set(lines)) == len(lines)
