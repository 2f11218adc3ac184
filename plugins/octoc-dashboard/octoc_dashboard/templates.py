"""HTML of values: whatever is not made here is text, and is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from octoc.diagnostics.render import escape

_VOID = frozenset({"input", "link", "meta"})


class Markup(str):
    """Text that is HTML already. Only this module makes any."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]
"""Text, HTML that `tag` made, or several of them; None is nothing."""


def escaped(text: str) -> Markup:
    r"""Return text as HTML that shows all of it: what is invisible, or turns what follows around, as `\u{202E}`."""
    lines = ("\t".join(map(escape, line.split("\t"))) for line in text.split("\n"))
    return Markup(html.escape("\n".join(lines)))


def verbatim(text: str) -> Markup:
    """Return text as HTML as it is, for a field that sends it back."""
    return Markup(html.escape(text))


def tag(name: str, /, *children: Child, **attributes: str | bool | int | None) -> Markup:
    """Return an element. `class_` is written `class`, and `aria_label` `aria-label`.

    An attribute that is True stands without a value, one that is False or None is left out. The names of elements and
    attributes are the program's own: only values are escaped.
    """
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = key.rstrip("_").replace("_", "-")
        written.append(f" {attribute}" if value is True else f' {attribute}="{verbatim(str(value))}"')
    opening = f"<{name}{''.join(written)}>"
    return Markup(opening if name in _VOID else f"{opening}{join(children)}</{name}>")


def join(child: Child) -> Markup:
    """Return the HTML of a child, or of several."""
    if child is None:
        return Markup()
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int):
        return escaped(str(child))
    return Markup("".join(join(one) for one in child))


def document(title: str, *body: Child) -> bytes:
    """Return a whole page in UTF-8."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("link", rel="icon", href="/page/icon.svg", type="image/svg+xml"),
        tag("link", rel="stylesheet", href="/page/page.css"),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n".encode("utf-8", "replace")
