"""Lists of tools as agents and skills write them: a list, a text with commas or blanks, or a mapping."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Step = str | int

_SEPARATOR = re.compile(r",\s*|\s+(?![^(]*\))")


def names_in(value: Any) -> Iterator[tuple[str, tuple[Step, ...]]]:
    """Yield each name in `value` and its path there; `()` where the name has no place of its own."""
    if isinstance(value, str):
        yield from ((name, ()) for name in _SEPARATOR.split(value) if name)
    elif isinstance(value, list):
        yield from ((item.strip(), (index,)) for index, item in enumerate(value) if isinstance(item, str))
    elif isinstance(value, dict):
        yield from ((key, (key,)) for key in value if isinstance(key, str))
