"""The embedders `minilm-l6`, all-MiniLM-L6-v2, and `octoc-l6`, the same model tuned for octoc.

They encode one text at a time on one thread, mean-pooled and normalised.
"""

from __future__ import annotations

import hashlib
import threading
import unicodedata
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from octoc.plugin import PluginError
from octoc_embed_onnx.session import open_session
from octoc_embed_onnx.weights import (
    INPUT,
    MAX_TOKENS,
    MODEL,
    OUTPUT,
    VOCABULARY,
    ModelSource,
    installed,
    installed_tuned,
    shipped,
)
from octoc_embed_onnx.wordpiece import WordPiece

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

DIMENSION = 384
METHOD = f"nfc wordpiece-uncased max={MAX_TOKENS} batch=1 mean l2 float32 rev=2"
"""What else determines a vector, besides model and vocabulary; a change must change this text."""


def make_minilm(settings: Mapping[str, str], files: Mapping[str, bytes] | None, name: str = "minilm-l6") -> MiniLm:
    """Make the embedder from a bundle's files, or from the installed packages; the first text opens the model.

    Raises: PluginError, if a setting is given, or a needed package is missing.
    """
    if settings:
        raise PluginError(f"`{name}` has no setting `{min(settings)}`: remove it")
    if files is not None:
        return MiniLm(shipped(files), name)
    return MiniLm(installed() if name == MiniLm.name else installed_tuned(), name)


class MiniLm:
    """A sentence encoder of 384 dimensions; see `octoc.plugin.Embedder`."""

    name = "minilm-l6"
    dimension = DIMENSION
    languages = frozenset({"English"})
    """Its vocabulary has words in Latin letters alone, and single characters of other scripts."""

    def __init__(self, source: ModelSource, name: str = name) -> None:
        self.name = name
        self._source = source
        self._opening = threading.Lock()
        self._opened: _Model | None = None

    @cached_property
    def identity(self) -> str:
        """sha256 in hex over the digest of the packaged weights, recipe, vocabulary and method.

        The graph itself is left out, so that the identity is known without making it.
        """
        source = self._source
        vocabulary = hashlib.sha256(source.vocabulary).hexdigest()
        parts = (source.weights_sha256, source.recipe, vocabulary, METHOD)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def embed(self, text: str) -> Vector:
        """Return the text's vector, shape (384,).

        Raises: PluginError, if onnxruntime is missing or refuses the model.
        """
        return self._model.embed(text)

    def files(self) -> Mapping[str, bytes]:
        """Return graph, vocabulary and origin. Raises: PluginError, if the graph cannot be made."""
        return self._files

    @cached_property
    def _files(self) -> Mapping[str, bytes]:
        return self._source.files()

    @property
    def _model(self) -> _Model:
        # Two threads may bring the first texts at once, and opening the model is slow.
        with self._opening:
            if self._opened is None:
                self._opened = _Model(self._files)
            return self._opened


class _Model:
    """The open model: an onnxruntime session and its tokeniser."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        try:
            self._wordpiece = WordPiece.from_lines(files[VOCABULARY].decode("utf-8"))
        except ValueError as error:
            raise PluginError(f"`{VOCABULARY}` is not the vocabulary of the encoder: {error}") from error
        self._run = open_session(
            files[MODEL], f"`{MODEL}`: run `pip install --upgrade onnxruntime`, or build the bundle again"
        ).run

    def embed(self, text: str) -> Vector:
        tokens = self._wordpiece.encode(unicodedata.normalize("NFC", text), MAX_TOKENS)
        if len(tokens) == 2:
            return np.zeros(DIMENSION, np.float32)
        vector: Vector = self._run([OUTPUT], {INPUT: np.array([tokens], np.int64)})[0]
        return vector
