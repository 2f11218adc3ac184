"""What counts tokens for each model."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from octoc.tokens import APPROXIMATE

if TYPE_CHECKING:
    from octoc.plugin import TokenCounter
    from octoc.plugin.manager import Plugins

logger = logging.getLogger("octoc.runtime")


class TokenCounters:
    """The token counters of one runtime, by model.

    Args:
        plugins: returns the plugins of the runtime's bundle.
        own: the host's counter, which counts for every model.
    """

    def __init__(self, plugins: Callable[[], Plugins], own: TokenCounter | None = None) -> None:
        self._plugins = plugins
        self._own = own
        self._by_model: dict[str, TokenCounter] = {}

    def of(self, model: str) -> TokenCounter:
        """Return the host's counter, else that of a plugin, else the approximate one. Logs a plugin that fails."""
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
