"""Tables, lists of names, and figures with their units, as HTML and as words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence

from octoc_serve.page.markup import Child, Markup, tag


def table(
    caption: Child, columns: Sequence[str], rows: Iterable[Sequence[Child]], numbers: Sequence[str] = ()
) -> Markup:
    """Return a table whose rows' first cells are their headers; the columns in `numbers` are set right."""
    kinds = ["number" if name in numbers else None for name in columns]
    head = (tag("th", name, scope="col", class_=kind) for name, kind in zip(columns, kinds, strict=True))
    body = (tag("tr", _cells(row, columns, kinds)) for row in rows)
    return tag("table", tag("caption", caption), tag("thead", tag("tr", head)), tag("tbody", body))


def _cells(row: Sequence[Child], columns: Sequence[str], kinds: Sequence[str | None]) -> Iterable[Markup]:
    # Where the screen is narrow, a cell has a line of its own and shows its column's name.
    for number, (value, column, kind) in enumerate(zip(row, columns, kinds, strict=True)):
        name, scope = ("td", None) if number else ("th", "row")
        yield tag(name, tag("span", value), scope=scope, data_column=column, class_=kind)


def facts(pairs: Iterable[tuple[str, Child]]) -> Markup:
    """Return terms and what they are, side by side."""
    return tag("dl", (tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs), class_="facts")


def names(found: Iterable[str]) -> list[Child]:
    """Return names with commas between them."""
    return listed([tag("bdi", name)] for name in found)


def listed(items: Iterable[Iterable[Child]]) -> list[Child]:
    """Return items with commas between them."""
    return [[", " if number else None, *item] for number, item in enumerate(items)]


def counted(count: int, what: str) -> str:
    """Return a number with its word, in the plural unless it is one."""
    if count == 1:
        return f"1 {what}"
    return f"{count:,} {what[:-1]}ies" if what.endswith("y") else f"{count:,} {what}s"


def duration(seconds: float) -> str:
    """Return a time that something took, with two or three digits."""
    if seconds < 0.9995:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.0095 else f"{1000 * seconds:.1f} ms"
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:,.0f} s"


def time_of(when: dt.datetime) -> Markup:
    """Return a time of day, to the second."""
    return tag("time", f"{when:%H:%M:%S}", datetime=when.isoformat(timespec="seconds"))
