"""Lone surrogates in JSON: a server that cuts a text by UTF-16 units writes them, and strict parsers refuse them."""

from __future__ import annotations

import re

# An escape that is a pair, half of one, or any other; the order keeps what is escaped itself (`\\ud800`) as it is.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89aAbB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def without_lone_surrogates(data: bytes) -> bytes | None:
    """Return JSON with U+FFFD in place of each lone surrogate, None if it has none.

    Call it only for text that a parser refused: it visits every escape.
    """
    replaced = _ESCAPE.sub(lambda escape: escape[0] if escape[1] is None else rb"\ufffd", data)
    return None if replaced == data else replaced
