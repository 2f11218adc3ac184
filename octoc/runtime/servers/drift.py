"""How a server's tools differ from those compiled into the bundle."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from octoc.lists import name_list


@attrs.frozen(kw_only=True)
class ListingDrift:
    """Names, sorted, that the bundle lacks, that the server lacks, and of what differs.

    Tools have their bare name, offers also their kind, as `resource file:///notes.md`.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __str__(self) -> str:
        parts = (("added", self.added), ("removed", self.removed), ("changed", self.changed))
        return "; ".join(f"{what} {name_list(names)}" for what, names in parts if names)


def drift_between(
    compiled: Mapping[str, Mapping[str, Any]], listed: Iterable[tuple[str, Mapping[str, Any]]]
) -> ListingDrift:
    """Compare tools and offers by name and wire object, without `_meta`, which may differ in each answer."""
    now = dict(listed)
    both = now.keys() & compiled.keys()
    return ListingDrift(
        added=tuple(sorted(now.keys() - compiled.keys())),
        removed=tuple(sorted(compiled.keys() - now.keys())),
        changed=tuple(sorted(name for name in both if _without_meta(now[name]) != _without_meta(compiled[name]))),
    )


def _without_meta(wire: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in wire.items() if key != "_meta"}
