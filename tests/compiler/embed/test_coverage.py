"""The languages that the vectors of a build cover."""

import attrs

from octoc.compiler.embed.coverage import covered_languages
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability
from octoc.diagnostics.model import Place
from octoc.testing import FakeEmbedder

PLACE = Place(file="octoc.toml")


class EnglishEmbedder(FakeEmbedder):
    """An embedder that covers one language."""

    languages = frozenset({"English"})


def capability(name: str, *triggers: str) -> Capability:
    """Return a capability with these triggers."""
    located = tuple(Located(trigger, PLACE) for trigger in triggers)
    return Capability(name=name, tap="t", provider="p", place=PLACE, triggers=located)


def test_the_triggers_own_language_is_covered() -> None:
    """A workspace that is written in German routes German messages by vectors; one German capability is not enough."""
    german = capability("termine", "zeig mir die Termine von heute")
    english = capability("mail", "send a mail to the team")
    embedder = EnglishEmbedder()
    assert covered_languages(embedder, [german, attrs.evolve(german, name="plan")]) == ("English", "German")
    assert covered_languages(embedder, [german, english, attrs.evolve(english, name="post")]) == ("English",)
    assert covered_languages(embedder, [capability("quiet"), german]) == ("English", "German")


def test_an_encoder_that_names_no_languages_covers_all() -> None:
    """A user's own model may be of any language."""
    assert covered_languages(FakeEmbedder(), [capability("git", "commit my changes")]) == ()
