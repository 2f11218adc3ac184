"""The aliases of an agent's tools, which depend only on the tools that the agent has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from octoc.aliases import RESERVED, digest_alias, make_aliases, own_alias

if TYPE_CHECKING:
    from octoc.runtime.catalog.catalog import Catalog


class AgentAliases:
    """The aliases of an agent's tools. An alias never changes, so that names which a model has seen stay valid.

    A tool of the bundle has the bundle's alias, or a shorter one if that is longer only because of a tool outside the
    registry. A tool that joins gets an alias that none of the agent's tools has by then.

    Args:
        tools: the agent's tools that are compiled into the bundle.
        known: returns all tools of the agent, with those that joined.
    """

    def __init__(self, catalog: Catalog, tools: Iterable[int], known: Callable[[], Iterable[int]]) -> None:
        self._catalog = catalog
        self._tools = tuple(tools)
        self._known = known
        self._joined: dict[int, str] = {}

    def of(self, index: int) -> str:
        """Return the alias of one of the agent's tools."""
        if self._catalog.is_compiled(index):
            return self._own.get(index) or self._catalog.alias(index)
        if index not in self._joined:
            known = (one for one in self._known() if not self._catalog.is_compiled(one))
            for one in sorted({*known, index}.difference(self._joined)):
                self._joined[one] = self._free(one)
        return self._joined[index]

    @cached_property
    def _own(self) -> dict[int, str]:
        """The aliases of the agent's tools that may differ from the bundle's; empty if none does."""
        if self._catalog.contested.isdisjoint(self._tools):
            return {}
        made = make_aliases((self._catalog[index].id for index in self._tools), self._catalog.style)
        return {index: made[self._catalog[index].id] for index in self._tools}

    @cached_property
    def _compiled(self) -> frozenset[str]:
        return RESERVED.union(map(self.of, self._tools))

    def _free(self, index: int) -> str:
        tool, taken = self._catalog[index].id, self._compiled.union(self._joined.values())
        wanted = (own_alias(tool, self._catalog.style), own_alias(tool))
        return next((alias for alias in wanted if alias not in taken), None) or digest_alias(tool, taken)
