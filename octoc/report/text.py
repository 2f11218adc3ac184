"""Makes texts of servers and files safe for a report: no secret, no hidden character, no markup."""

from __future__ import annotations

import html
import re
from functools import lru_cache

from octoc.diagnostics.render import escape
from octoc.masking import mask_values


@lru_cache(4096)  # names of agents, servers and tools are in many lines
def safe(text: str) -> str:
    """Return a text without secrets and without characters that move a terminal's cursor."""
    return escape(mask_values(text))


def markdown_cell(text: str) -> str:
    """Return a text as a cell of a table in Markdown that GitHub shows as written."""
    # A server's text must not become a link, an image or a mention in a pull request.
    plain = html.escape(safe(text), quote=False).replace("\n", " ")
    return re.sub(r"([\\`*_\[\]|@#!~])", r"\\\1", plain)
