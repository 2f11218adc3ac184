"""The encoder `octoc-l6` with its real weights."""

import json
from pathlib import Path

import numpy as np
import pytest

from octoc.compiler import build
from octoc.plugin import Embedder, PluginError
from octoc.plugin.toolkit import install_command
from octoc.runtime import Runtime
from octoc.testing import EmbedderContract, WorkspaceBuilder

weights = pytest.importorskip("octoc_embed_onnx.weights", reason="octoc-embed-onnx, which runs the model, is missing")
pytest.importorskip("octoc_embed_tuned", reason="the weights are not installed")

RECIPE = Path(__file__).resolve().parents[1] / "recipe"
NEEDS = {
    "leave": ["request vacation", "book a day off", "how many holidays do I have left"],
    "expenses": ["submit expenses", "reimburse my taxi", "upload a receipt"],
    "printers": ["printer not working", "paper jam", "toner empty"],
}
NO_SHARED_WORD = {
    "I'd like to be away from the 3rd to the 14th, Greece finally": "leave",
    "I paid the client dinner with my own card": "expenses",
    "grey stripes down every page": "printers",
}


def tuned() -> Embedder:
    """Return the encoder of the installed weights."""
    from octoc_embed_onnx import octoc_make_embedder

    made: Embedder | None = octoc_make_embedder(name="octoc-l6", settings={}, files=None)
    assert made is not None
    return made


class TestContract(EmbedderContract):
    """What octoc asks of every embedder."""

    def make_embedder(self) -> Embedder:
        return tuned()

    def make_from_files(self, embedder: Embedder) -> Embedder:
        from octoc_embed_onnx import octoc_make_embedder

        made: Embedder | None = octoc_make_embedder(name="octoc-l6", settings={}, files=embedder.files())
        assert made is not None
        return made


def test_it_has_a_space_of_its_own() -> None:
    """Its identity is not that of the default encoder, whose vectors lie elsewhere though not far."""
    from octoc_embed_onnx.minilm import make_minilm

    default, own = make_minilm({}, None), tuned()
    assert own.identity != default.identity
    text = "book a day off"
    assert 0.5 < float(np.dot(own.embed(text), default.embed(text))) < 0.999


def test_a_build_routes_with_it(tmp_path: Path) -> None:
    """A workspace that names it routes requests that share no word with the right triggers, from its bundle alone."""
    routing = {"encoder": "octoc-l6", "gate": "octomind", "threshold": 0.2, "margin": 0.0}
    builder = WorkspaceBuilder(tmp_path, name="w", routing=routing, plugins={"use": ["embed-onnx"]})
    for name, triggers in NEEDS.items():
        builder.capability(name, triggers, server={"command": "true"})
    outcome = build(builder.write())
    assert outcome.bundle is not None, outcome.diagnostics
    session = Runtime.open(outcome.bundle, env={}).session()
    assert {text: session.route(text).capability for text in NO_SHARED_WORD} == NO_SHARED_WORD


def test_without_its_weights_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing package and altered weights are errors with the command that brings them."""
    command = install_command("octoc-embed-tuned", options="--force-reinstall")
    with monkeypatch.context() as patch:
        patch.setattr(weights, "TUNED_PACKAGE", "octoc_no_such_package")
        with pytest.raises(PluginError, match="are not installed") as missing:
            tuned()
    monkeypatch.setattr(weights, "TUNED_SHA256", "0" * 64)
    with pytest.raises(PluginError, match="expected 000000000000") as altered:
        tuned().embed("a text")
    assert command in str(missing.value)
    assert command in str(altered.value)


def test_the_training_data_is_well_formed() -> None:
    """Each need has all its texts, and no message of a need is also one for nothing."""
    rows = [json.loads(line) for line in (RECIPE / "needs.jsonl").read_text(encoding="utf-8").splitlines()]
    nothing = (RECIPE / "nothing.txt").read_text(encoding="utf-8").splitlines()
    messages = [message for row in rows for message in row["messages"]]
    for row in rows:
        assert row["field"]
        assert row["title"]
        assert row["sentence"]
        assert row["triggers"]
        assert row["messages"]
    assert len(rows) == 830
    assert not set(messages) & set(nothing)
