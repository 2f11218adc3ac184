"""The embedder `folder`: a user's own model, a folder with `model.onnx` and `tokenizer.json`.

    [routing]
    encoder = "folder"

    [routing.encoder_settings]
    path = "models/my-encoder"
    prefix = ""
    pooling = "mean"
    max_tokens = 256

This is the layout of sentence-transformers and similar tools. Other files in the folder are not read.
"""

from __future__ import annotations

import hashlib
import json
import threading
import unicodedata
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from octoc.plugin import PluginError
from octoc.plugin.toolkit import install_command, name_list
from octoc_embed_onnx.exported import POOLINGS, ExportedModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
METHOD = "folder nfc batch=1 l2 float32 rev=1"
"""What else determines a vector, besides files and settings; a change must change this text."""
MIN_TOKENS = 8
MAX_TOKENS = 32_768
DEFAULT_TOKENS = 256
MAX_BYTES = {MODEL: 1024**3, TOKENIZER: 64 * 1024**2}

_SECTION = "`[routing.encoder_settings]`"
_SETTINGS = ("path", "prefix", "pooling", "max_tokens")


@attrs.frozen(kw_only=True)
class FolderSettings:
    """The workspace's settings of its encoder. `prefix` is put before each text; `max_tokens` counts all tokens.

    `path` is the absolute folder; None if the bundle has the files.
    """

    path: Path | None = None
    prefix: str = ""
    pooling: str = "mean"
    max_tokens: int = DEFAULT_TOKENS


def make_folder(settings: Mapping[str, str], files: Mapping[str, bytes] | None) -> FolderEmbedder:
    """Make the embedder from a bundle's files, or from the folder; the first text opens the model.

    Raises: PluginError, if a setting is invalid, or the folder lacks a file.
    """
    read = read_settings(settings)
    if files is None:
        files = _files_of(read.path)
    missing = sorted({MODEL, TOKENIZER} - set(files))
    if missing:
        raise PluginError(f"the bundle's encoder lacks {name_list(missing)}: build the bundle again")
    return FolderEmbedder(read, {name: bytes(files[name]) for name in (MODEL, TOKENIZER)})


def read_settings(settings: Mapping[str, str]) -> FolderSettings:
    """Return the settings as values. Raises: PluginError, with the invalid setting and what was expected."""
    unknown = sorted(set(settings) - set(_SETTINGS))
    if unknown:
        known = name_list(_SETTINGS)
        raise PluginError(f"{_SECTION} has `{unknown[0]}`, expected {known}")
    pooling = settings.get("pooling", "mean")
    if pooling not in POOLINGS:
        raise PluginError(f"{_SECTION} has pooling `{pooling}`, expected {name_list(POOLINGS)}")
    tokens = settings.get("max_tokens", str(DEFAULT_TOKENS))
    if not (tokens.isascii() and tokens.isdigit() and MIN_TOKENS <= int(tokens) <= MAX_TOKENS):
        raise PluginError(
            f"{_SECTION} has max_tokens `{tokens}`, expected a whole number from {MIN_TOKENS} to {MAX_TOKENS}"
        )
    return FolderSettings(
        path=Path(settings["path"]) if settings.get("path") else None,
        prefix=settings.get("prefix", ""),
        pooling=pooling,
        max_tokens=int(tokens),
    )


class FolderEmbedder:
    """A user's own sentence encoder; see `octoc.plugin.Embedder`."""

    name = "folder"

    def __init__(self, settings: FolderSettings, files: Mapping[str, bytes]) -> None:
        self._settings = settings
        self._given = dict(files)
        self._opening = threading.Lock()
        self._opened: _Opened | None = None

    @cached_property
    def identity(self) -> str:
        """sha256 in hex over the digests of both files, prefix, pooling, length and method, without the path."""
        own = self._settings
        parts: dict[str, Any] = {
            "files": {name: hashlib.sha256(data).hexdigest() for name, data in self._given.items()},
            "max_tokens": own.max_tokens,
            "method": METHOD,
            "pooling": own.pooling,
            "prefix": own.prefix,
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    @property
    def dimension(self) -> int:
        """Length of a vector. Opens the model. Raises: PluginError."""
        return self._model.exported.dimension

    def embed(self, text: str) -> Vector:
        """Return the text's vector, shape (dimension,). Raises: PluginError, if the model cannot be opened or run."""
        return self._model.embed(text)

    def files(self) -> Mapping[str, bytes]:
        return self._given

    @property
    def _model(self) -> _Opened:
        with self._opening:
            if self._opened is None:
                self._opened = _Opened(self._settings, self._given)
            return self._opened


class _Opened:
    """The open model and its tokeniser."""

    def __init__(self, settings: FolderSettings, files: Mapping[str, bytes]) -> None:
        self._prefix = settings.prefix
        self._tokenizer = _tokenizer(files[TOKENIZER], settings.max_tokens)
        self.exported = ExportedModel(files[MODEL], settings.pooling)

    def embed(self, text: str) -> Vector:
        normal = unicodedata.normalize("NFC", text)
        # A text without tokens has no meaning; the prefix and the special tokens would give it one.
        if not self._tokenizer.encode(normal, add_special_tokens=False).ids:
            return np.zeros(self.exported.dimension, np.float32)
        return self.exported.embed(self._tokenizer.encode(f"{self._prefix}{normal}").ids)


def _tokenizer(data: bytes, max_tokens: int) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise PluginError(
            f"reading `{TOKENIZER}` takes the package `tokenizers`: run `{install_command('octoc-embed-onnx[folder]')}`"
        ) from error
    try:
        tokenizer = Tokenizer.from_str(data.decode("utf-8"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)
    except Exception as error:  # tokenizers raises a plain Exception for an unreadable file
        raise PluginError(f"`{TOKENIZER}` of the encoder cannot be read: {error}") from error
    return tokenizer


def _files_of(folder: Path | None) -> dict[str, bytes]:
    if folder is None:
        raise PluginError(f"the encoder `folder` takes its files from a folder: set `path` in {_SECTION}")
    if not folder.is_dir():
        raise PluginError(
            f"the encoder's folder `{folder.name}` {'is not a folder' if folder.exists() else 'does not exist'}: "
            f"set `path` in {_SECTION}, relative to the workspace"
        )
    # sentence-transformers puts the model into a folder of its own.
    model = folder / MODEL if (folder / MODEL).exists() else folder / "onnx" / MODEL
    return {MODEL: _read(folder, model, MODEL), TOKENIZER: _read(folder, folder / TOKENIZER, TOKENIZER)}


def _read(folder: Path, path: Path, name: str) -> bytes:
    try:
        if not path.is_file():
            raise PluginError(
                f"the encoder's folder `{folder.name}` has no `{name}`: "
                "export the model as ONNX, with its tokenizer beside it"
            )
        size = path.stat().st_size
        if size > MAX_BYTES[name]:
            raise PluginError(f"`{name}` of the encoder has {size} bytes, and at most {MAX_BYTES[name]} are read")
        parts = sorted(each.name for each in path.parent.glob(f"{name}[._]data"))
        if parts:
            raise PluginError(f"`{name}` of the encoder keeps its weights in `{parts[0]}`: save it as one file")
        return path.read_bytes()
    except OSError as error:
        raise PluginError(f"`{name}` of the encoder cannot be read: {error.strerror or error}") from error
