"""The page of each rule: what it does, why it matters, a bad and a good example.

The blocks of an example are the files of one workspace, each named by the `title` of its fence; a test checks them.
"""

from __future__ import annotations

from pathlib import Path

_PAGES = Path(__file__).with_name("docs")


def page_of(code: str) -> str | None:
    """Return the page of the rule with this code, in Markdown; None when there is none."""
    page = _PAGES / f"{code}.md"
    return page.read_text(encoding="utf-8") if page.is_file() else None
