"""Stage embed: texts to vectors, each encoded once."""

import hashlib
import threading
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from numpy.typing import NDArray

from octoc.compiler.cache.store import Cache
from octoc.compiler.context import Context
from octoc.compiler.embed.stage import embed
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability, Embedded, Resolved
from octoc.compiler.model.settings import RoutingSettings, WorkspaceSettings
from octoc.compiler.model.source import Sources
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.installation import install_command
from octoc.plugin import PluginError, hookimpl
from octoc.plugin.manager import plugins_of

PLACE = Place(file="octoc.toml")
TRIGGERS = {"git": ("commit my changes", "show the log"), "docker": ("list containers",), "quiet": ()}


class DigestEmbedder:
    """An embedder whose vectors are made of a text's digest; it remembers what it was asked."""

    name = "digest"
    dimension = 8

    def __init__(self, identity: str = "digest-1") -> None:
        self.identity = identity
        self.asked: list[str] = []
        self._lock = threading.Lock()

    def embed(self, text: str) -> NDArray[np.float32]:
        with self._lock:
            self.asked.append(text)
        normal = unicodedata.normalize("NFC", text)
        row = np.frombuffer(hashlib.sha256(normal.encode("utf-8", "replace")).digest(), np.uint8)[:8].astype(np.float32)
        unit: NDArray[np.float32] = row / np.linalg.norm(row)
        return unit

    def files(self) -> Mapping[str, bytes]:
        return {"model": b"weights"}


@attrs.frozen
class EncoderPlugin:
    """A plugin that has one encoder, or fails to make it."""

    embedder: Any

    @hookimpl
    def octoc_make_embedder(self, name: str, settings: Mapping[str, str], files: Mapping[str, bytes] | None) -> Any:
        if isinstance(self.embedder, Exception):
            raise self.embedder
        return self.embedder if name == self.embedder.name else None


def described(
    triggers: Mapping[str, tuple[str, ...]], plugins: tuple[str, ...] = ("embed-onnx",), **routing: Any
) -> Build:
    """Return a build of capabilities with these triggers."""
    settings = WorkspaceSettings(
        name="w",
        place=PLACE,
        plugins=plugins,
        routing=RoutingSettings(**{"encoder": "digest", "gate": "octomind", **routing}),
    )
    capabilities = tuple(
        Capability(
            name=name, tap="t", provider="p", place=PLACE, triggers=tuple(Located(text, PLACE) for text in texts)
        )
        for name, texts in sorted(triggers.items())
    )
    resolved = Resolved(servers=(), capabilities=capabilities, agents=(), skills=())
    return Build(settings=settings, sources=Sources(), resolved=resolved)


def run(
    tmp_path: Path,
    embedder: Any,
    triggers: Mapping[str, tuple[str, ...]] = TRIGGERS,
    *,
    allow_degraded: bool = False,
    **routing: Any,
) -> tuple[Embedded, DiagnosticSink]:
    """Run the stage with one encoder and the cache below `tmp_path`."""
    sink = DiagnosticSink()
    plugins = plugins_of(EncoderPlugin(embedder))
    context = Context(root=tmp_path, sink=sink, cache=Cache(tmp_path), plugins=plugins, allow_degraded=allow_degraded)
    return embed(described(triggers, **routing), context).embedded, sink


def test_triggers_are_rows_in_the_order_of_capabilities(tmp_path: Path) -> None:
    """The matrix has a row for each trigger, of each capability in turn, and the product names the encoder."""
    embedder = DigestEmbedder()
    product, sink = run(tmp_path, embedder)
    assert sink.diagnostics == ()
    assert product.triggers is not None
    expected = [embedder.embed(text) for text in ("list containers", "commit my changes", "show the log")]
    assert np.array_equal(product.triggers, np.stack(expected))
    assert (product.encoder_name, product.identity, product.dimension) == ("digest", "digest-1", 8)
    assert product.encoder_files == {"model": b"weights"}


def test_the_encoder_is_shipped_only_when_asked_for(tmp_path: Path) -> None:
    """With ship_encoder = false the product has no encoder files."""
    product, _ = run(tmp_path, DigestEmbedder(), ship_encoder=False)
    assert product.encoder_files == {}
    assert product.identity == "digest-1"


def test_a_second_build_encodes_nothing(tmp_path: Path) -> None:
    """The same texts come out of the cache, with the same bits."""
    first, _ = run(tmp_path, DigestEmbedder())
    again = DigestEmbedder()
    second, _ = run(tmp_path, again)
    assert again.asked == []
    assert first.triggers is not None
    assert second.triggers is not None
    assert first.triggers.tobytes() == second.triggers.tobytes()


def test_only_texts_not_seen_before_are_encoded(tmp_path: Path) -> None:
    """A changed trigger is encoded, its neighbours are not; a text that stands twice is encoded once."""
    run(tmp_path, DigestEmbedder())
    embedder = DigestEmbedder()
    product, _ = run(tmp_path, embedder, {**TRIGGERS, "docker": ("stop it all", "list containers", "stop it all")})
    assert embedder.asked == ["stop it all"]
    assert product.triggers is not None
    assert product.triggers.shape == (5, 8)


def test_two_spellings_of_one_text_are_encoded_once(tmp_path: Path) -> None:
    """Composed and decomposed accents are one text."""
    embedder = DigestEmbedder()
    run(tmp_path, embedder, {"a": ("d\u00e9ploie", "de\u0301ploie")})
    assert len(embedder.asked) == 1


def test_another_encoder_shares_no_vector(tmp_path: Path) -> None:
    """Vectors are kept per encoder, so another encoder encodes every text again."""
    run(tmp_path, DigestEmbedder())
    other = DigestEmbedder("digest-2")
    run(tmp_path, other)
    assert len(other.asked) == 3


def test_what_is_no_longer_used_is_forgotten_in_time(tmp_path: Path) -> None:
    """The cache keeps what the build uses and at most as much again, so it does not grow with every edit."""
    for number in range(20):
        run(tmp_path, DigestEmbedder(), {"a": (f"text {number}", "always here")})
    (kept,) = tmp_path.glob("vectors/*.npy")
    assert kept.stat().st_size < 1024
    embedder = DigestEmbedder()
    run(tmp_path, embedder, {"a": ("text 19", "text 18", "always here", "text 0")})
    assert embedder.asked == ["text 0"]


def test_a_damaged_cache_is_a_miss(tmp_path: Path) -> None:
    """A cut file costs time, nothing else."""
    run(tmp_path, DigestEmbedder())
    (kept,) = tmp_path.glob("vectors/*.npy")
    kept.write_bytes(kept.read_bytes()[:-100])
    embedder = DigestEmbedder()
    product, sink = run(tmp_path, embedder)
    assert len(embedder.asked) == 3
    assert product.triggers is not None
    assert sink.diagnostics == ()


def test_nothing_to_route_asks_no_encoder(tmp_path: Path) -> None:
    """A workspace without triggers makes no encoder, so it needs none."""
    product, sink = run(tmp_path, PluginError("would fail"), {"quiet": ()}, gate="calibrated")
    assert product.triggers is None
    assert sink.diagnostics == ()


def test_the_calibrated_gate_has_its_texts_encoded_too(tmp_path: Path) -> None:
    """With the calibrated gate the product has the vectors of names and of the background lines."""
    product, _ = run(tmp_path, DigestEmbedder(), gate="calibrated")
    assert {"git", "docker", "list containers"} <= set(product.texts)
    assert "quiet" not in product.texts
    assert len(product.texts) > 40


@pytest.mark.parametrize("allow_degraded,severity", [(False, "error"), (True, "warning")])
def test_a_missing_encoder_is_an_error_unless_allowed(tmp_path: Path, allow_degraded: bool, severity: str) -> None:
    """An encoder that no plugin has leaves the product without vectors, and the finding says what to do."""
    product, sink = run(tmp_path, DigestEmbedder(), allow_degraded=allow_degraded, encoder="other")
    (found,) = sink.diagnostics
    assert (found.rule.code, found.severity.label) == ("OCT701", severity)
    assert ("--allow-degraded" in (found.help or "")) is not allow_degraded
    assert "`other`" in found.message
    assert found.help is not None
    assert (product.triggers, product.encoder_name) == (None, None)


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    """Where the plugin of the default encoder is not installed the help is the command that installs it."""
    sink = DiagnosticSink()
    plugins = plugins_of()
    plugins.missing = ("embed-onnx",)
    context = Context(root=tmp_path, sink=sink, cache=Cache(tmp_path), plugins=plugins)
    embed(described(TRIGGERS, encoder="minilm-l6"), context)
    (found,) = sink.diagnostics
    assert found.help is not None
    assert found.help.startswith(f"run `{install_command('octoc-embed-onnx[quantize]')}`; ")


def test_a_plugin_that_the_workspace_does_not_use_is_named(tmp_path: Path) -> None:
    """Where the default encoder's plugin is left out of the settings, that is what there is to do."""
    sink = DiagnosticSink()
    context = Context(root=tmp_path, sink=sink, cache=Cache(tmp_path), plugins=plugins_of())
    embed(described(TRIGGERS, ("transport-mcp",), encoder="minilm-l6"), context)
    (found,) = sink.diagnostics
    assert found.help is not None
    assert found.help.startswith("add `embed-onnx` to `[plugins] use`; ")


class Unable(DigestEmbedder):
    """An embedder that fails at the first text."""

    def embed(self, text: str) -> NDArray[np.float32]:
        raise RuntimeError("out of luck")


class Narrow(DigestEmbedder):
    """An embedder whose vectors have not the dimension that it names."""

    dimension = 9


@pytest.mark.parametrize(
    "embedder,said",
    [
        (PluginError("the weights are not installed: run `pip install x`"), "run `pip install x`"),
        (Unable(), "failed: out of luck"),
        (Narrow(), "expected (9,)"),
    ],
)
def test_a_failing_encoder_is_an_error(tmp_path: Path, embedder: Any, said: str) -> None:
    """An encoder that cannot be made, raises or gives another shape is reported in its own words; nothing is raised."""
    product, sink = run(tmp_path, embedder)
    (found,) = sink.diagnostics
    assert (found.rule.code, found.severity.label) == ("OCT702", "error")
    assert said in found.message
    assert product.triggers is None
    assert not list(tmp_path.glob("vectors/*"))
