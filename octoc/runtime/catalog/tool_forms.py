"""Tools as model APIs take them, each rewritten once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from octoc.formats.render import Shown, shown

if TYPE_CHECKING:
    from octoc.formats import ToolFormat
    from octoc.runtime.catalog.registry import Catalog


class ToolForms:
    """The tools of one bundle in the forms that were asked for, each rewritten once."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._shown: dict[tuple[ToolFormat, int, str], tuple[Mapping[str, Any], Shown]] = {}

    def of(self, index: int, alias: str, form: ToolFormat, wire: Mapping[str, Any] | None = None) -> Shown:
        """Return a tool as it is now, or as `wire` has it; shared, so do not change it. Raises: BundleRefused."""
        own = self._catalog.shared_wire(index) if wire is None else wire
        known = self._shown.get((form, index, alias))
        if known is None or known[0] is not own:
            known = self._shown[form, index, alias] = (own, shown(alias, own, form))
        return known[1]
