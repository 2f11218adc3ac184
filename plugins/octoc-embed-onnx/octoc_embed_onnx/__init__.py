"""The embedders `minilm-l6`, `octoc-l6` and `folder`. Importing this module loads neither numpy nor onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from octoc.plugin import hookimpl

if TYPE_CHECKING:
    from octoc.plugin import Embedder

__all__ = ["octoc_make_embedder"]

MINILM = "minilm-l6"
TUNED = "octoc-l6"
FOLDER = "folder"


@hookimpl
def octoc_make_embedder(name: str, settings: Mapping[str, str], files: Mapping[str, bytes] | None) -> Embedder | None:
    """Return the embedder `minilm-l6`, `octoc-l6` or `folder`, or None for any other name.

    The first text opens the model. `octoc_embed_onnx.folder` describes the settings of `folder`; the others have none.
    Raises: PluginError, if a setting is invalid, or neither `files` nor the installed packages have the model.
    """
    if name in (MINILM, TUNED):
        from octoc_embed_onnx.minilm import make_minilm

        return make_minilm(settings, files, name)
    if name == FOLDER:
        from octoc_embed_onnx.folder import make_folder

        return make_folder(settings, files)
    return None
