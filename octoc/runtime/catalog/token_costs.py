"""What tools cost in a request: the text of each as a model's API gets it, and its tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from octoc.formats import ToolFormat
    from octoc.plugin import TokenCounter
    from octoc.runtime.catalog.registry import Catalog

COUNTED_FORMAT: ToolFormat = "anthropic"
"""The form in which tools are counted; the others differ by a few characters a tool."""


def tool_text(shown: Mapping[str, Any]) -> str:
    """Return a rendered tool as compact JSON."""
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))


class ToolCosts:
    """Counts the tokens of one bundle's tools, each once for each counter."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._counted: dict[tuple[str, int, str], tuple[Mapping[str, Any], int]] = {}

    def tokens(self, index: int, alias: str, counter: TokenCounter) -> int:
        """Return how many tokens a tool has as it is now, in the form `COUNTED_FORMAT`. Raises: BundleRefused."""
        wire = self._catalog.shared_wire(index)
        known = self._counted.get((counter.name, index, alias))
        if known is None or known[0] is not wire:
            from octoc.formats.render import shown  # with the first block that is counted

            text = tool_text(shown(alias, wire, COUNTED_FORMAT).tool)
            known = self._counted[counter.name, index, alias] = (wire, counter.count(text))
        return known[1]
