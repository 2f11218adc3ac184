"""The languages that the vectors of a build cover."""

from pathlib import Path

import attrs
import pytest

from octoc.bundle.model import Encoder
from octoc.compiler.cache.store import Cache
from octoc.compiler.context import Context
from octoc.compiler.embed.coverage import covered_languages, second_encoder
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability
from octoc.compiler.model.settings import RoutingSettings, WorkspaceSettings
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.plugin import PluginError, hookimpl, plugins_of
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


class GermanEmbedder(FakeEmbedder):
    """A second encoder, whose vectors compare with those of the fake one."""

    languages = frozenset({"German"})
    space = FakeEmbedder().identity


class FakePlugin:
    """A plugin that has encoders by name, or fails for the name `broken`."""

    @hookimpl
    def octoc_make_embedder(self, name: str) -> FakeEmbedder | None:
        if name == "broken":
            raise PluginError("its weights are not installed")
        return {"german": GermanEmbedder(name="german"), "fake": FakeEmbedder()}.get(name)


@pytest.mark.parametrize(
    "name, problem",
    [
        ("german", None),
        ("", None),
        ("broken", "its weights are not installed"),
        ("use-multilingual", "no plugin of `[plugins] use` has it"),
        ("fake", "it is not made for `fake`"),
    ],
)
def test_a_second_encoder_is_recorded_or_explained(tmp_path: Path, name: str, problem: str | None) -> None:
    """Only its name and identity are recorded; one that cannot be used is a warning with a next step."""
    sink = DiagnosticSink()
    context = Context(root=tmp_path, sink=sink, cache=Cache(tmp_path), plugins=plugins_of(FakePlugin()))
    settings = WorkspaceSettings(place=PLACE, name="w", routing=RoutingSettings(other_languages=name))
    second = second_encoder(FakeEmbedder(), settings, context)
    if name == "german":
        identity = GermanEmbedder().identity
        assert second == Encoder(name="german", identity=identity, dimension=64, languages=("German",))
    else:
        assert second is None
    told = [f"{one.rule.code} {one.severity.name.lower()} {one.message}" for one in sink.diagnostics]
    assert told == (
        [f"OCT701 warning the encoder `{name}` of other languages is not used: {problem}"] if problem else []
    )
    assert all("embed-multilingual" in (one.help or "") for one in sink.diagnostics if name == "use-multilingual")
