"""The plugins of a bundle, put together when something first asks for them: opening a bundle asks none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc.plugin.manager import Plugins


class LazyPlugins:
    """What gives the same `Plugins` to all who call it, from whichever thread; `make` is called once at most."""

    def __init__(self, make: Callable[[], Plugins]) -> None:
        self._make = make
        self._made: Plugins | None = None
        self._lock = threading.Lock()

    def __call__(self) -> Plugins:
        """Return the plugins."""
        with self._lock:
            if self._made is None:
                self._made = self._make()
            return self._made
