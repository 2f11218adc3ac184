"""What the schema of a file of fixtures cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.model.documents import kept
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rules import check as rules
from octoc.routing.fixtures import NOTHING


def check_fixtures(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a file of fixtures whose schema is met; one that expects `none` and more is cut."""
    if not any(values.get(key) for key in ("message", "search")):
        inspection.report_empty(
            "fixture", "add a `[[message]]` with `text` and `expect`, or a `[[search]]` with `query` and `tools`"
        )
    for index, message in kept(values.get("message", ())):
        path: KeyPath = ("message", index)
        expect = message["expect"]
        if isinstance(expect, list) and len(expect) > 1 and NOTHING in expect:
            inspection.report(
                rules.UNEXPECTED_VALUE,
                f"`{NOTHING}` stands among capabilities, expected names of capabilities alone",
                (*path, "expect", expect.index(NOTHING)),
                cut=path,
                help=f'write `expect = "{NOTHING}"` for a message that should activate nothing',
            )
    for index, search in kept(values.get("search", ())):
        for number, tool in kept(search["tools"]):
            server, slash, name = tool.partition("/")
            if not (server and slash and name):
                inspection.report(
                    rules.BAD_NAME,
                    f"`{tool}` names no tool, expected `server/tool`",
                    ("search", index, "tools", number),
                    cut=("search", index),
                )
