"""What the schema of `octoc.toml` cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import Inspection
from octoc.compiler.model.documents import kept
from octoc.diagnostics.rules import check as rules

_OF_OCTOMIND_GATE = ("threshold", "margin")


def check_workspace(values: Mapping[str, Any], inspection: Inspection) -> None:
    """Check an `octoc.toml` whose schema is met; the second of two taps of one name is cut."""
    seen: dict[str, int] = {}
    for index, tap in kept(values.get("taps", [])):
        first = seen.setdefault(tap["name"], index)
        if first != index:
            inspection.report(
                rules.REPEATED_NAME,
                f"two taps are called `{tap['name']}`",
                ("taps", index, "name"),
                cut=("taps", index),
                related={"the first is here": ("taps", first, "name")},
                help="give each tap a name of its own",
            )
    routing = values.get("routing", {})
    calibrated = routing.get("gate") != "octomind" and ("routing", "gate") not in inspection.cut_before
    for key in _OF_OCTOMIND_GATE:
        if key in routing and calibrated:
            inspection.report(
                rules.UNUSED_SETTING,
                f"`{key}` belongs to the octomind gate, and the gate is calibrated",
                ("routing", key),
                key=True,
                help='add `gate = "octomind"`, or leave it out',
            )
