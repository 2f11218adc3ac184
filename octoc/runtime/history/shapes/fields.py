"""Fields of messages, which are mappings or objects of a provider's SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def get(thing: Any, key: str) -> Any:
    """Return a field of a mapping or of an SDK's object, None if it does not have the field."""
    return thing.get(key) if isinstance(thing, Mapping) else getattr(thing, key, None)


def string(thing: Any, key: str) -> str:
    """Return a field as text, empty if it is missing."""
    value = get(thing, key)
    return "" if value is None else str(value)


def as_dict(thing: Any) -> dict[str, Any]:
    """Return a mapping or an SDK's object as a dict that can be changed."""
    if isinstance(thing, Mapping):
        return dict(thing)
    dump = getattr(thing, "model_dump", None)
    if callable(dump):
        return dict(dump(by_alias=True, exclude_unset=True))
    return dict(getattr(thing, "__dict__", {}))  # a value that should be an object and is a number has no fields


def with_string(thing: Any, key: str, value: str) -> Any:
    """Return `thing` with a text in a field: itself if the field has that text already."""
    return thing if string(thing, key) == value else {**as_dict(thing), key: value}


def listed(value: Any) -> tuple[Any, ...]:
    """Return the entries of a list; a single object as one entry; none for a text or None."""
    if isinstance(value, (list, tuple)):
        return tuple(value)
    return () if value is None or isinstance(value, str) else (value,)


def json_text(value: Any) -> str:
    """Return a value as JSON, for counting; a text is returned as it is."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
