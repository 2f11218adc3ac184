"""octoc's plugin `embed-onnx`: the embedder `minilm-l6`. Importing it loads neither numpy nor onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from octoc.plugin import hookimpl

if TYPE_CHECKING:
    from octoc.plugin import Embedder

__all__ = ["octoc_make_embedder"]

NAME = "minilm-l6"


@hookimpl
def octoc_make_embedder(name: str, settings: Mapping[str, str], files: Mapping[str, bytes] | None) -> Embedder | None:
    """Return the embedder `minilm-l6`, or None for any other name.

    The model is opened when the first text is embedded. It has no settings.
    Raises: PluginError when a setting is given, or the weights are neither in `files` nor installed.
    """
    if name != NAME:
        return None
    from octoc_embed_onnx.minilm import make_minilm

    return make_minilm(settings, files)
