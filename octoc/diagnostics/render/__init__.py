"""Turns diagnostics into text: for people (`full`), for grep and editors (`concise`), for programs (`json`).

`sarif`, `github` and `junit` are modules of their own, loaded when they are asked for.
"""

from __future__ import annotations

from octoc.diagnostics.render.concise import render_concise
from octoc.diagnostics.render.full import ReadLine, render_full
from octoc.diagnostics.render.json import as_object, render_json
from octoc.diagnostics.render.style import Paint, ansi, plain
from octoc.diagnostics.render.summary import severity_counts, summary
from octoc.diagnostics.render.text import escape, wrapped

FORMATS = ("full", "concise", "json", "sarif", "github", "junit")

__all__ = [
    "FORMATS",
    "Paint",
    "ReadLine",
    "ansi",
    "as_object",
    "escape",
    "plain",
    "render_concise",
    "render_full",
    "render_json",
    "severity_counts",
    "summary",
    "wrapped",
]
