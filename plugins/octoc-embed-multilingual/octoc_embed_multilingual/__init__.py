"""The embedder `use-multilingual`, used beside `minilm-l6`. Importing this module loads no numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from octoc.plugin import hookimpl

if TYPE_CHECKING:
    from octoc.plugin import Embedder

__all__ = ["octoc_make_embedder"]

NAME = "use-multilingual"


@hookimpl
def octoc_make_embedder(name: str, settings: Mapping[str, str]) -> Embedder | None:
    """Return the embedder `use-multilingual`, or None for any other name. It has no settings or files.

    The first text opens the model. Raises: PluginError, if a setting is given, or the weights are not installed.
    """
    if name != NAME:
        return None
    from octoc_embed_multilingual.encoder import make_encoder

    return make_encoder(settings)
