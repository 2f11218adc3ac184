"""HTML of values: whatever is not made by `tag` is text, and is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

_VOID = frozenset({"input", "link", "meta"})
# What a terminal or a parser could take for more than a sign: C0 and C1 without tab and line feed, and lone surrogates.
_ODD = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160), *range(0xD800, 0xE000)), "�")


class Markup(str):
    """Text that is HTML already. Only this module makes any."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]
"""Text, HTML that `tag` made, or several of them; None is nothing."""


def escaped(text: str) -> str:
    """Return text as HTML that shows it, in an element or an attribute; a sign that cannot be shown is U+FFFD."""
    return html.escape(text.translate(_ODD))


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
        written.append(f" {attribute}" if value is True else f' {attribute}="{escaped(str(value))}"')
    opening = f"<{name}{''.join(written)}>"
    return Markup(opening if name in _VOID else f"{opening}{join(children)}</{name}>")


def join(child: Child) -> Markup:
    """Return the HTML of a child, or of several."""
    if child is None:
        return Markup()
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int):
        return Markup(escaped(str(child)))
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
    return f"<!doctype html>\n{tag('html', head, tag('body', body), lang='en')}\n".encode()
