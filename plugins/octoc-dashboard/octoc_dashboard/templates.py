r"""The Jinja2 environment of the pages. It escapes every value, and shows invisible characters as `\u{202E}`.

`visible` runs on each value of a template by itself. `verbatim` is for a field that the browser sends back.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import markupsafe
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.templating import Jinja2Templates

from octoc.plugin.toolkit import escape
from octoc_dashboard.formats import counted, duration, percent, thousands


def visible(value: object) -> object:
    """Return text with invisible characters, and those that turn text around, written out; other values as they are."""
    if not isinstance(value, str) or isinstance(value, markupsafe.Markup):
        return value
    return "\n".join("\t".join(map(escape, line.split("\t"))) for line in value.split("\n"))


def verbatim(text: str) -> markupsafe.Markup:
    """Return text as HTML that means exactly this text; a lone surrogate, which UTF-8 lacks, becomes `?`."""
    return markupsafe.escape(text.encode("utf-8", "replace").decode())


def environment() -> Environment:
    """Return the environment, with the templates of this distribution."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "verbatim": verbatim,
        "counted": counted,
        "duration": duration,
        "percent": percent,
        "thousands": thousands,
    }
    made.filters.update(filters)
    return made


TEMPLATES = Jinja2Templates(env=environment())
