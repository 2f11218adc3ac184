"""Values of variables and inputs, as the resolvers of plugins find them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octoc.bundle.model import CapabilityEntry
    from octoc.plugin.manager import Plugins

logger = logging.getLogger("octoc.runtime")


class Variables:
    """The variables of one runtime.

    Args:
        plugins: returns the plugins of the runtime's bundle.
    """

    def __init__(self, plugins: Callable[[], Plugins]) -> None:
        self._plugins = plugins

    def lookup(self, name: str) -> str | None:
        """Return the value of a variable or input; None if it has none, or if its resolver fails, which is logged."""
        from octoc.plugin import PluginError

        try:
            return self._plugins().resolve_secret(name)
        except PluginError as error:
            logger.warning("`%s` could not be looked up: %s", name, error)
            return None

    def missing(self, capability: CapabilityEntry) -> tuple[str, ...]:
        """Return the variables that a capability needs and that have no value."""
        return tuple(name for name in capability.requires_env if not self.lookup(name))
