"""Pins: a digest for each part of what a server recorded, and the form in which a diff moves one set to the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.pins.changes import SERVER, Change
from octoc.results import OFFER_KEYS, ServerListing

Pin = Mapping[str, str]
"""Part -> 16 hex digits of its sha256. A part that is absent has none."""
Pins = Mapping[str, Pin]
"""Subject, as in `Change` -> its pin."""

_TOOL_PARTS = {
    "name": "name",
    "description": "description",
    "inputSchema": "input_schema",
    "outputSchema": "output_schema",
    "annotations": "annotations",
}
_DIGITS = 16


def part_digest(value: Any) -> str:
    """Return 16 hex digits of the sha256 of a part; empty for a part that is absent."""
    return "" if value is None else sha256_hex(canonical_json(value))[:_DIGITS]


def tool_parts(wire: Mapping[str, Any]) -> Pin:
    """Return the digests of a tool's name, description, schemas and annotations, and of `other` for everything else."""
    parts = {part: part_digest(wire[key]) for key, part in _TOOL_PARTS.items() if wire.get(key) is not None}
    rest = {key: value for key, value in wire.items() if key not in _TOOL_PARTS}
    return {**parts, "other": part_digest(rest)} if rest else parts


def pins_of(listing: ServerListing) -> Pins:
    """Return the pins of everything that a server listed."""
    about = {"instructions": listing.instructions, "info": dict(listing.server_info) or None}
    features = {"features": list(listing.features) or None}
    pins: dict[str, Pin] = {
        SERVER: {part: part_digest(value) for part, value in {**about, **features}.items() if value is not None}
    }
    pins |= {f"tool {tool.name}": tool_parts({**tool.wire, "name": tool.name}) for tool in listing.tools}
    for offer in listing.offers:
        key = OFFER_KEYS[offer.kind]
        rest = {name: value for name, value in offer.wire.items() if name != key}
        pins[f"{offer.kind} {offer.name}"] = {"name": part_digest(offer.name), "other": part_digest(rest)}
    return pins


def moves(old: Pins, new: Pins) -> dict[str, Any]:
    """Return, by subject, the pin before and after of everything that differs; None where it is absent."""
    return {
        subject: {"before": _plain(old.get(subject)), "after": _plain(new.get(subject))}
        for subject in sorted(old.keys() | new.keys())
        if old.get(subject) != new.get(subject)
    }


def moved(pins: Pins, by: Mapping[str, Any]) -> Pins:
    """Return the pins after the `moves` of a diff. Raises: ValueError if the pins are not those before it."""
    result = dict(pins)
    for subject, move in by.items():
        if _plain(result.pop(subject, None)) != move["before"]:
            raise ValueError(f"`{subject}` is not what the diff begins with")
        if move["after"] is not None:
            result[subject] = move["after"]
    return result


def _plain(pin: Pin | None) -> dict[str, str] | None:
    return None if pin is None else dict(pin)


def change_object(change: Change) -> dict[str, str]:
    """Return a change as JSON has it."""
    about = {"at": change.at, "before": change.old, "after": change.new}
    return {
        "subject": change.subject,
        "rule": change.rule.name,
        "class": change.kind.value,
        "text": change.text,
        **{key: value for key, value in about.items() if value},
    }


def change_objects(changes: Iterable[Change]) -> list[dict[str, str]]:
    """Return changes as JSON has them."""
    return [change_object(change) for change in changes]
