"""JSON pointers: paths into a JSON value as text. Source: RFC 6901."""

from __future__ import annotations

from collections.abc import Iterable


def pointer_token(key: object) -> str:
    """Return a key or an index as a reference token of a pointer."""
    return str(key).replace("~", "~0").replace("/", "~1")


def pointer_to(path: Iterable[object]) -> str:
    """Return a path as a pointer, such as `/properties/a~1b`; empty is the whole value."""
    return "".join(f"/{pointer_token(key)}" for key in path)


def key_of_token(token: str) -> str:
    """Return the key that a reference token stands for."""
    return token.replace("~1", "/").replace("~0", "~")


def index_of_token(token: str, size: int) -> int | None:
    """Return the index into a list of `size` items that a token stands for, or None where it leads nowhere."""
    if token.isascii() and token.isdigit() and len(token) < 20 and int(token) < size:
        return int(token)
    return None
