"""What the schemas of needs, expanded triggers and background cannot say: what is there twice, what says nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.model.documents import kept
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules


def check_background(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a file of texts for no capability: one without any is reported."""
    if not values["lines"]:
        inspection.report_empty("text", "write a message a line; a line that begins with `#` is a comment")


def check_needs(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a file of needs whose schema is met; one without a message that is sound is cut."""
    if not values:
        inspection.report_empty("need", "add a table with `about` and `says`, such as `[weather]`")
    for name, need in values.items():
        if not any(True for _ in kept(need["says"])):
            inspection.report(
                rules.EMPTY_VALUE,
                f"need `{name}` has no message",
                (name, "says"),
                cut=(name,),
                help="write messages as people put them",
            )
        _check_repeated(name, need["says"], inspection)


def check_expanded(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check expanded triggers whose schema is met. A capability without any is sound: all may have been deleted."""
    for name, expanded in values.items():
        _check_repeated(name, expanded["says"], inspection)


def _check_repeated(name: str, says: list[Any], inspection: FileInspection) -> None:
    first: dict[str, int] = {}
    for index, text in kept(says):
        before = first.setdefault(text, index)
        if before != index:
            path = (name, "says", index)
            inspection.report(
                rules.REPEATED_NAME,
                f"`{name}` says `{text}` twice",
                path,
                cut=path,
                related={"the first is here": (name, "says", before)},
                help="delete one of them",
                severity=Severity.WARNING,
            )
