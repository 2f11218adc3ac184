"""The arguments of a tool as rows of a table, read from its schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

MAX_ARGUMENTS = 100
_MAX_VALUES = 8


@attrs.frozen(kw_only=True)
class ArgumentRow:
    """An argument: its type in words, whether a call needs it, and its description with the default."""

    name: str
    type_words: str
    required: bool
    description: str


def argument_rows(schema: str) -> list[ArgumentRow] | None:
    """Return the arguments that a JSON Schema names; None for a schema that a table cannot show."""
    try:
        value = json.loads(schema)
    except (ValueError, RecursionError):
        return None  # a long schema is cut
    properties = value.get("properties", {}) if isinstance(value, dict) else None
    if not isinstance(properties, dict) or len(properties) > MAX_ARGUMENTS:
        return None
    needed = value.get("required")
    required = needed if isinstance(needed, list) else []
    return [_row(name, one, required=name in required) for name, one in properties.items()]


def _row(name: str, schema: Any, *, required: bool) -> ArgumentRow:
    known = schema if isinstance(schema, Mapping) else {}
    description = known.get("description")
    parts = [description] if isinstance(description, str) else []
    if "default" in known:
        parts.append(f"Default: {json.dumps(known['default'], ensure_ascii=False)}")
    return ArgumentRow(name=name, type_words=_type(known), required=required, description=" ".join(parts))


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type in words; `any` where the schema names none."""
    values = schema.get("enum")
    if isinstance(values, list) and values:
        shown = [json.dumps(value, ensure_ascii=False) for value in values[:_MAX_VALUES]]
        return f"one of {', '.join(shown)}{', …' if len(values) > _MAX_VALUES else ''}"
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else [one for one in kinds or () if isinstance(one, str)]
    items = schema.get("items")
    if names == ["array"] and isinstance(items, Mapping):
        return f"array of {_type(items)}"
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if not names and isinstance(options, list):
            names = list(dict.fromkeys(_type(one) for one in options if isinstance(one, Mapping)))
    reference = schema.get("$ref")
    if not names and isinstance(reference, str):
        names = [reference.rpartition("/")[2]]
    return " or ".join(names) or "any"
