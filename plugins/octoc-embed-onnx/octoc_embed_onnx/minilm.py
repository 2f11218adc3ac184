"""The embedder `minilm-l6`: all-MiniLM-L6-v2, one text at a time on one thread, mean-pooled and normalised."""

from __future__ import annotations

import hashlib
import threading
import unicodedata
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from octoc.plugin import PluginError
from octoc_embed_onnx.weights import (
    MODEL,
    VOCABULARY,
    WEIGHTS_SHA256,
    check_shipped,
    installed_files,
    installed_model,
)
from octoc_embed_onnx.wordpiece import WordPiece

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

DIMENSION = 384
MAX_TOKENS = 256
"""The length that the model was trained on, `[CLS]` and `[SEP]` counted."""
METHOD = f"nfc wordpiece-uncased max={MAX_TOKENS} batch=1 mean l2 float32 rev=1"
"""All that shapes a vector beside weights and vocabulary; a change of it must change this text."""


def make_minilm(settings: Mapping[str, str], files: Mapping[str, bytes] | None) -> MiniLm:
    """Make the embedder from a bundle's files, or from what is installed; the model is opened by the first text.

    Raises: PluginError when a setting is given, or files are missing.
    """
    if settings:
        raise PluginError(f"`minilm-l6` has no setting `{min(settings)}`: remove it")
    if files is not None:
        check_shipped(files)
        return MiniLm(lambda: files)
    model = installed_model()
    return MiniLm(lambda: installed_files(model), weights_sha256=WEIGHTS_SHA256)


class MiniLm:
    """A sentence encoder of 384 dimensions; see `octoc.plugin.Embedder`."""

    name = "minilm-l6"
    dimension = DIMENSION

    def __init__(self, read: Callable[[], Mapping[str, bytes]], weights_sha256: str | None = None) -> None:
        self._read = read
        self._weights_sha256 = weights_sha256  # where `read` has verified it, it need not be worked out again
        self._opening = threading.Lock()
        self._opened: _Model | None = None

    @cached_property
    def identity(self) -> str:
        """sha256 over the digests of weights and vocabulary and the method, in hex. Reads 23 MB when first asked."""
        files = self._files
        weights = self._weights_sha256 or hashlib.sha256(files[MODEL]).hexdigest()
        vocabulary = hashlib.sha256(files[VOCABULARY]).hexdigest()
        return hashlib.sha256(f"{weights}\n{vocabulary}\n{METHOD}".encode()).hexdigest()

    def embed(self, text: str) -> Vector:
        """Return the text's vector, shape (384,).

        Raises: PluginError when onnxruntime is missing or refuses the model.
        """
        return self._model.embed(text)

    def files(self) -> Mapping[str, bytes]:
        return self._files

    @cached_property
    def _files(self) -> Mapping[str, bytes]:
        return self._read()

    @property
    def _model(self) -> _Model:
        # The first texts may come from two threads at once, and opening costs the better part of a second.
        with self._opening:
            if self._opened is None:
                self._opened = _Model(self._files)
            return self._opened


class _Model:
    """The open model: an onnxruntime session and its tokeniser."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        try:
            self._wordpiece = WordPiece.from_lines(bytes(files[VOCABULARY]).decode("utf-8"))
        except ValueError as error:
            raise PluginError(f"`{VOCABULARY}` is not the vocabulary of `minilm-l6`: {error}") from error
        self._run = _open_session(bytes(files[MODEL]))

    def embed(self, text: str) -> Vector:
        tokens = self._wordpiece.encode(unicodedata.normalize("NFC", text), MAX_TOKENS)
        if len(tokens) == 2:
            return np.zeros(DIMENSION, np.float32)
        numbers = np.array([tokens], np.int64)
        # Nothing is padded, so the mask is all ones and the mean over it is the plain mean.
        inputs = {
            "input_ids": numbers,
            "attention_mask": np.ones_like(numbers),
            "token_type_ids": np.zeros_like(numbers),
        }
        states: NDArray[np.float32] = self._run(["last_hidden_state"], inputs)[0]
        pooled: Vector = states[0].mean(axis=0)
        return pooled / np.linalg.norm(pooled)


def _open_session(model: bytes) -> Callable[..., Any]:
    try:
        import onnxruntime
    except ImportError as error:
        raise PluginError("`minilm-l6` needs onnxruntime: run `pip install octoc-embed-onnx`") from error
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    # One thread: the bits of a vector depend on nothing but the text, and callers may run several texts side by side.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime's own errors share no base but Exception
        raise PluginError(
            f"onnxruntime cannot open `{MODEL}`: run `pip install --upgrade onnxruntime`, or build the bundle again"
        ) from error
    run: Callable[..., Any] = session.run
    return run
