"""How a server's tools differ from those compiled into the bundle, and which of them are refused because of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.pin_limits import PinLimits
from octoc.lists import name_list
from octoc.results import OFFER_KEYS, FailureKind, ListedOffer

if TYPE_CHECKING:
    from octoc.pins.changes import Change


_MOST_DESCRIBED = 5
"""Changed tools of a server that a warning names."""


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


Refusals = Mapping[str, tuple[FailureKind, str]]
"""Name of a tool or offer, as in `ListingDrift` -> the kind and the message of the failure of a call."""


def is_offer(name: str) -> bool:
    """Tell whether a name of `ListingDrift` is a resource, template or prompt, and not a tool."""
    return name.partition(" ")[0] in OFFER_KEYS and " " in name


def judge(
    server: str,
    drift: ListingDrift,
    compiled: Mapping[str, Mapping[str, Any]],
    listed: Mapping[str, Mapping[str, Any]],
    limits: PinLimits,
) -> tuple[Refusals, frozenset[str]]:
    """Return what is not called any more, and the names of changes that are allowed without a warning.

    Removed tools are not called, nor what changed in a class that the limits refuse. A message names rules alone: the
    words of a server that changed must not reach the model.
    """
    refused: dict[str, tuple[FailureKind, str]] = {
        name: ("not_found", f"server `{server}` no longer has `{name}`") for name in drift.removed
    }
    allowed = set()
    for name in drift.changed if limits.judges else ():
        changes = _changes(name, compiled[name], listed[name])
        modes = {getattr(limits, change.kind) for change in changes}
        if "refuse" in modes:
            rules = ", ".join(dict.fromkeys(f"{change.rule.name} ({change.kind})" for change in changes))
            refused[name] = ("changed", f"`{server}/{name}` differs from its pin and is refused: {rules}")
        elif "warn" not in modes:
            allowed.add(name)
    return refused, frozenset(allowed)


def described(
    drift: ListingDrift, compiled: Mapping[str, Mapping[str, Any]], listed: Mapping[str, Mapping[str, Any]]
) -> str:
    """Return the names that differ, a changed one with its rules: no word of the server."""
    named = ListingDrift(added=drift.added, removed=drift.removed)
    parts = [str(named)] if named else []
    for name in drift.changed[:_MOST_DESCRIBED]:
        rules = dict.fromkeys(str(change.rule.name) for change in _changes(name, compiled[name], listed[name]))
        parts.append(f"changed `{name}`" + (f" ({', '.join(rules)})" if rules else ""))
    if len(drift.changed) > _MOST_DESCRIBED:
        parts.append(f"changed {len(drift.changed) - _MOST_DESCRIBED} more")
    return "; ".join(parts)


def _changes(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Change, ...]:
    from octoc.pins.changes import offer_changes, tool_changes  # few servers ever change

    before, after = _without_meta(old), _without_meta(new)
    kind, _, own = name.partition(" ")
    for known in OFFER_KEYS:
        if kind == known and own:
            return offer_changes(*(ListedOffer(kind=known, name=own, wire=wire) for wire in (before, after)))
    return tool_changes(name, before, after)
