"""What the schema of a snapshot cannot say: tools of one name, and a file named after another server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.model.documents import kept
from octoc.compiler.pin.snapshots import snapshot_file_name
from octoc.diagnostics.rules import check as rules


def check_snapshot(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a snapshot whose schema is met; the second of two tools of one name is cut."""
    named = inspection.file.key.get("server", values["server"])
    if named not in (values["server"], snapshot_file_name(values["server"]).removesuffix(".json")):
        inspection.report(
            rules.SNAPSHOT_NAME_DIFFERS,
            f"the snapshot is of server `{values['server']}`, its file name says `{named}`",
            ("server",),
            help="run `octoc pin` to write it anew",
        )
    seen: dict[str, int] = {}
    for index, tool in kept(values["tools"]):
        first = seen.setdefault(tool["name"], index)
        if first != index:
            inspection.report(
                rules.REPEATED_NAME,
                f"tool `{tool['name']}` is listed twice",
                ("tools", index, "name"),
                cut=("tools", index),
                related={"the first is here": ("tools", first, "name")},
            )
