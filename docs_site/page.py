"""A page of the site before it is HTML, and text in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

ROOT = Path(__file__).resolve().parent.parent
"""The checkout."""
_CODE = re.compile(r"(`+[^`]*`+)")
_SIGNS = re.compile(r"([\\*_\[\]>|])")


@attrs.frozen
class Page:
    """One page.

    Args:
        path: where it is on the site, such as `reference/commands/check.md`.
        text: its Markdown, whose links lead to other pages of the site.
    """

    path: str
    text: str


def plain(text: str) -> str:
    """Return a text as Markdown that shows it as it is, except that words in backticks are code."""
    # Python-Markdown has no `\<`, and shows a backslash in code as it is, in a table too.
    parts = _CODE.split(" ".join(text.split()))
    return "".join(part if at % 2 else _SIGNS.sub(r"\\\1", part).replace("<", "&lt;") for at, part in enumerate(parts))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose cells are Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
