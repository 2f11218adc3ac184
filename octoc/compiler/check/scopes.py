"""What the schema of scopes cannot say: a group of two owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.diagnostics.rules import check as rules


def check_scopes(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a file of scopes whose schema is met; one without a table is reported."""
    if not values:
        inspection.report_empty("table", "add `[areas.NAME]`, `[groups.NAME]` or `[[grants]]`, or delete the file")
    check_tables(values, inspection)


def check_tables(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check the tables of scopes in `values`, wherever they stand."""
    for name, group in values.get("groups", {}).items():
        if "area" in group and "agent" in group:
            inspection.report(
                rules.UNEXPECTED_VALUE,
                f"group `{name}` has both an `area` and an `agent`, expected one of them at most",
                ("groups", name, "agent"),
                key=True,
                cut=("groups", name),
                related={"the area is here": ("groups", name, "area")},
                help="delete `area` for tools of one agent alone, `agent` for tools that the area's agents are granted",
            )
