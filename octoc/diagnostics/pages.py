"""The page of each rule: what it does, why it matters, a bad and a good example.

The blocks of an example are the files of one workspace, each named by the `title` of its fence; a test checks them.
"""

from __future__ import annotations

from pathlib import Path

from octoc.diagnostics.rule import Rule
from octoc.installation import documentation_url

_PAGES = Path(__file__).with_name("docs")


def page_of(rule: Rule) -> str | None:
    """Return the page of a rule, in Markdown; None when it has none."""
    page = (rule.pages or _PAGES) / f"{rule.code}.md"
    return page.read_text(encoding="utf-8") if page.is_file() else None


def url_of(rule: Rule) -> str | None:
    """Return the address of a rule's page on octoc's site; None for a plugin's rule, or if octoc names no site."""
    site = documentation_url() if rule.pages is None else None
    return None if site is None else f"{site}/rules/{rule.code}/"
