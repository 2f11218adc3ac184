"""Fields that the schemas allow and do not know: reported with near names, and left behind by structure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.fixes.edits import renamed
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.suggest import did_you_mean, slips_of


def report_unknown_fields(
    values: Mapping[str, Any],
    known: frozenset[str],
    path: KeyPath,
    inspection: FileInspection,
    *,
    open_ended: bool = False,
) -> None:
    """Report the keys of `values`, which stand at `path`, that are not `known`.

    With `open_ended` other programs add keys of their own, so one that is near no known key is only information.
    Keys that start with `x-` or `_` are the author's own.
    """
    for key in values:
        if key in known or str(key).startswith(("x-", "_")):
            continue
        place = Place(file=inspection.file.display, path=(*path, key), part="key")
        # Where other programs add keys, only a slip of a known key is meant to be it.
        near = did_you_mean(str(key), slips_of(str(key), known) if open_ended else known)
        inspection.sink.report(
            rules.UNKNOWN_FIELD,
            f"unknown field `{key}`{f' in `{inspection.dotted(path)}`' if path else ''}",
            at=place,
            help=near,
            severity=Severity.INFO if open_ended and not near else None,
            subject=f"{inspection.file.kind}:{key}",
            fix=renamed(place, str(key), known - {str(other) for other in values}),
        )
