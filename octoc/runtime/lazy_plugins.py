"""The plugins of a bundle, loaded when first needed, and what they provide: token counters and values of variables."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from octoc.tokens import APPROXIMATE

if TYPE_CHECKING:
    from octoc.bundle.model import CapabilityEntry
    from octoc.plugin import TokenCounter
    from octoc.plugin.manager import Plugins

logger = logging.getLogger("octoc.runtime")


class LazyPlugins:
    """Returns the same `Plugins` in every call, from any thread; `make` is called at most once."""

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


class TokenCounters:
    """The token counters of one runtime, by model.

    Args:
        plugins: returns the plugins of the runtime's bundle.
        own: the host's counter, for every model.
    """

    def __init__(self, plugins: Callable[[], Plugins], own: TokenCounter | None = None) -> None:
        self._plugins = plugins
        self._own = own
        self._by_model: dict[str, TokenCounter] = {}

    def of(self, model: str) -> TokenCounter:
        """Return the host's counter, else a plugin's, else the approximate one. Logs a plugin that fails."""
        if self._own is not None:
            return self._own
        if model not in self._by_model:
            from octoc.plugin import PluginError

            try:
                self._by_model[model] = self._plugins().token_counter(model)
            except PluginError as error:
                logger.warning("no exact token counter for model `%s`: %s", model, error)
                self._by_model[model] = APPROXIMATE
        return self._by_model[model]


class Variables:
    """The values of variables and inputs in one runtime, as the resolvers of plugins return them.

    Args:
        plugins: returns the plugins of the runtime's bundle.
    """

    def __init__(self, plugins: Callable[[], Plugins]) -> None:
        self._plugins = plugins

    def lookup(self, name: str) -> str | None:
        """Return the value of a variable or input; None without a value, or if its resolver fails, which is logged."""
        from octoc.plugin import PluginError

        try:
            return self._plugins().resolve_secret(name)
        except PluginError as error:
            logger.warning("`%s` could not be looked up: %s", name, error)
            return None

    def missing(self, capability: CapabilityEntry) -> tuple[str, ...]:
        """Return the variables without a value that a capability needs."""
        return tuple(name for name in capability.requires_env if not self.lookup(name))
