"""A limit on TOML that others write: tomllib takes time and memory that grow with the square of a key's parts."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MAX_KEY_PARTS = 200
"""Parts of one key or header, as `a.b.c` has three."""

_LONG_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}""", re.ASCII
)


def has_long_key(text: str) -> bool:
    """Tell whether a text has a key over the limit, or what looks like one in a string. Takes linear time."""
    return _LONG_KEY.search(text) is not None


def parse(text: str) -> dict[str, Any]:
    """Return the values of a TOML text. Raises: ValueError if it is not TOML, too deep, or has a key over the limit."""
    if has_long_key(text):
        raise ValueError(f"a key of more than {MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("lists and tables are too deep inside each other") from None
