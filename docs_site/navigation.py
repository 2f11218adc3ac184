"""The order of pages on the site, and a check that it has each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

Entry = Any
"""A path, or one title with a path or a list of entries, as the site's generator reads them."""


def expanded(
    entries: Sequence[Entry], pages: Iterable[str], parts: Mapping[str, list[Entry]] | None = None
) -> list[Entry]:
    """Return the entries with each `FOLDER/*` replaced by the pages there that no entry names, in order.

    Args:
        parts: `FOLDER/*` -> the entries to put there instead.
    """
    named = set(named_pages(entries))
    left = sorted(page for page in pages if page not in named)

    def expanded_below(below: Entry) -> Entry:
        return [made for one in below for made in expand(one)] if isinstance(below, list) else below

    def expand(one: Entry) -> list[Entry]:
        if parts and isinstance(one, str) and one in parts:
            return parts[one]
        if isinstance(one, dict):
            return [{title: expanded_below(below) for title, below in one.items()}]
        if one.endswith("/*"):
            return [page for page in left if page.startswith(one[:-1])]
        return [one]

    return [made for one in entries for made in expand(one)]


def named_pages(entries: Entry) -> Iterator[str]:
    """Yield each path in the entries, from top to bottom."""
    if isinstance(entries, str):
        yield entries
    elif isinstance(entries, dict):
        yield from named_pages(list(entries.values()))
    else:
        for one in entries:
            yield from named_pages(one)


def mistakes(entries: Sequence[Entry], pages: Iterable[str]) -> list[str]:
    """Return what is wrong with expanded entries: pages that have no place, and places that have no page."""
    existing, named = set(pages), list(named_pages(entries))
    return [
        *(f"{page}: no place in the navigation (docs_site/zensical.toml)" for page in sorted(existing - set(named))),
        *(f"{page}: the navigation names a page that does not exist" for page in named if page not in existing),
        *(f"{page}: the navigation names it twice" for page in sorted({one for one in named if named.count(one) > 1})),
    ]
