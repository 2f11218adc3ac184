"""The encoder and the gate of a bundle, loaded by the first message."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from octoc.bundle.model import Encoder
    from octoc.bundle.reader import OpenBundle
    from octoc.plugin import Embedder
    from octoc.plugin.protocols import Vector
    from octoc.routing.router import Router
    from octoc.runtime.lazy_plugins import LazyPlugins

logger = logging.getLogger("octoc.runtime")

_MEMO = 64
"""Cached vectors: the gate, the rules of skills and the next messages need those of the same texts."""


class EncoderUnavailableError(Exception):
    """No encoder makes vectors like the bundle's, or it failed on a text; the message has the reason."""


class RoutingParts:
    """The encoder and the gate of one bundle, made once; several threads may use them."""

    def __init__(
        self, opened: OpenBundle, plugins: LazyPlugins, workspace: Path, embedder: Embedder | None = None
    ) -> None:
        self._opened = opened
        self._plugins = plugins
        self._workspace = workspace
        self._embedder = embedder
        self._second: Embedder | None = None
        self._second_problem: str | None = None
        self._router: Router | None = None
        self._problem: str | None = None
        self._failed = False
        self._vectors: dict[str, Vector] = {}
        self._lock = threading.Lock()

    def embedder(self) -> Embedder:
        """Return the encoder of the bundle's vectors. Raises: EncoderUnavailableError."""
        with self._lock:
            encoder = self._opened.bundle.encoder
            if self._embedder is None and self._problem is None:
                if encoder is None:
                    self._problem = "the bundle was built without an encoder"
                else:
                    self._embedder, self._problem = self._made(encoder, self._opened.encoder_files() or None)
            if self._embedder is None:
                raise EncoderUnavailableError(self._problem)
            return self._embedder

    def embedder_for(self, text: str) -> Embedder:
        """Return the encoder of the bundle's vectors, or the second one for a text in a language that needs it.

        Raises: EncoderUnavailableError.
        """
        bundle = self._opened.bundle
        second = bundle.second_encoder
        if second is None or bundle.encoder is None:
            return self.embedder()
        from octoc.routing.languages import language_of

        language = language_of(text)
        if language in bundle.encoder.languages or language not in second.languages:
            return self.embedder()
        with self._lock:
            if self._second is None and self._second_problem is None:
                self._second, problem = self._made(second, None)
                if self._second is None:
                    self._second_problem = f"the bundle was built with `{second.name}` for other languages: {problem}"
                    logger.warning("text in %s is decided by words alone: %s", language, self._second_problem)
            if self._second is None:
                raise EncoderUnavailableError(self._second_problem)
            return self._second

    def vector(self, text: str) -> Vector:
        """Return the vector of a text, which the last texts share; do not change it.

        Raises: EncoderUnavailableError.
        """
        vector = self._vectors.get(text)
        if vector is None:
            vector = self.encode(text)
            with self._lock:
                while len(self._vectors) >= _MEMO:
                    del self._vectors[next(iter(self._vectors))]
                self._vectors[text] = vector
        return vector

    def encode(self, text: str) -> Vector:
        """Return the vector of a text. Raises: EncoderUnavailableError, also if this text alone fails."""
        embedder = self.embedder_for(text)
        try:
            return embedder.embed(text)
        except Exception as error:  # noqa: BLE001  # a plugin's own fault, of whatever type, must not end a session
            from octoc.plain_text import because
            from octoc.plugin import PluginError

            problem = f": {error}" if isinstance(error, PluginError) else because(error)
        problem = f"the encoder `{embedder.name}` failed{problem}"
        if not self._failed:
            # Logged once, as it may fail on every message.
            self._failed = True
            logger.warning("routing uses words alone: %s", problem)
        raise EncoderUnavailableError(problem)

    def embedder_like(self, identity: str) -> Embedder | None:
        """Return the encoder if it exists and has this identity, for another bundle with the same encoder."""
        made = self._embedder
        return made if made is not None and made.identity == identity else None

    def _made(self, encoder: Encoder, files: Mapping[str, bytes] | None) -> tuple[Embedder | None, str | None]:
        """Return the encoder that the bundle names, or None and why there is none."""
        from octoc.plugin import PluginError
        from octoc.plugin.folders import located

        try:
            made = self._plugins().make_embedder(encoder.name, located(encoder.settings, self._workspace), files)
        except PluginError as error:
            return None, str(error)
        if made is None:
            return None, f"no installed plugin makes the encoder `{encoder.name}`"
        if made.identity != encoder.identity:
            # Vectors of two encoders cannot be compared, so routing abstains.
            return None, f"the installed encoder `{encoder.name}` is not the one that the bundle was built with"
        return made, None

    def router(self) -> Router | None:
        """Return the bundle's gate, ready to decide; None when it has none."""
        made = self._router
        if made is not None:
            return made
        from octoc.routing.router import load_router

        with self._lock:
            opened, bundle = self._opened, self._opened.bundle
            if self._router is None and bundle.gate is not None:
                languages = bundle.encoder.languages if bundle.encoder else ()
                if languages and bundle.second_encoder is not None:
                    languages += bundle.second_encoder.languages
                arrays = {name: opened.array(f"gate/{name}") for name in bundle.gate.arrays}
                self._router = load_router(bundle.gate, arrays, self.triggers(), bundle.capabilities, languages)
            return self._router

    def triggers(self) -> Vector:
        """Return the triggers' vectors, shape (n, d); no rows if the bundle has none."""
        import numpy as np

        empty: Vector = np.zeros((0, 1), np.float32)
        return self._opened.array("triggers") if self._opened.has_array("triggers") else empty
