"""The arguments of a tool as rows of a table, from its JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from octoc.json_pointer import key_of_token

_DEEPEST = 3
_MOST_VALUES = 12


@attrs.frozen(kw_only=True)
class SchemaRow:
    """An argument, or a property of one.

    Args:
        name: its path, such as `filter.tags[].name`.
        value_note: the values that it may have, and its default, in words.
    """

    name: str
    type_name: str
    required: bool
    value_note: str = ""
    description: str = ""


def argument_rows(schema: Any) -> tuple[SchemaRow, ...]:
    """Return the properties of an object's schema, required ones first, each before its own; none for another schema.

    References within the schema are followed; three levels are shown.
    """
    return tuple(_rows(schema, schema, "", _DEEPEST))


def _rows(schema: Any, root: Any, path: str, left: int) -> Iterator[SchemaRow]:
    target = _target(schema, root)
    if not left or not isinstance(target, Mapping):
        return
    properties, required = target.get("properties"), target.get("required")
    if isinstance(properties, Mapping):
        must = {name for name in _list(required) if isinstance(name, str)}
        for name, written in sorted(properties.items(), key=lambda item: item[0] not in must):
            one = _target(written, root)
            yield SchemaRow(
                name=f"{path}{name}",
                type_name=_type(one, root),
                required=name in must,
                value_note=_values(one),
                description=_description(written) or _description(one),
            )
            yield from _rows(one, root, f"{path}{name}.", left - 1)
            items = one.get("items") if isinstance(one, Mapping) else None
            yield from _rows(items, root, f"{path}{name}[].", left - 1)


def _target(schema: Any, root: Any) -> Any:
    """Return the schema that a reference within `root` names, and the one alternative of an optional value."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping):
            return schema
        reference = schema.get("$ref")
        others = [one for one in _alternatives(schema) if one != {"type": "null"}]
        if isinstance(reference, str) and reference.startswith("#"):
            found = root
            for token in reference[1:].split("/")[1:]:
                found = found.get(key_of_token(token)) if isinstance(found, Mapping) else None
            schema = found
        elif len(others) == 1:
            own = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
            schema = {**others[0], **own} if isinstance(others[0], Mapping) else schema
        else:
            return schema
    return schema


def _alternatives(schema: Mapping[str, Any]) -> list[Any]:
    return [*_list(schema.get("anyOf")), *_list(schema.get("oneOf"))]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _type(schema: Any, root: Any, left: int = _DEEPEST) -> str:
    if not left or not isinstance(schema, Mapping):
        return "any"
    written = schema.get("type")
    names = [one for one in ([written] if isinstance(written, str) else _list(written)) if isinstance(one, str)]
    if not names:
        of_others = (_type(_target(one, root), root, left - 1) for one in _alternatives(schema))
        names = list(dict.fromkeys(of_others)) or _types_of_values(schema)
    names = [name for name in names if name != "null"] or names or ["any"]
    items = _target(schema.get("items"), root)
    return " or ".join(f"array of {_type(items, root, left - 1)}" if one == "array" and items else one for one in names)


def _types_of_values(schema: Mapping[str, Any]) -> list[str]:
    values = [*_list(schema.get("enum")), *([schema["const"]] if "const" in schema else [])]
    return ["string"] if values and all(isinstance(value, str) for value in values) else []


def _values(schema: Any) -> str:
    """Return the allowed values and the default, in words."""
    if not isinstance(schema, Mapping):
        return ""
    parts = []
    items = schema.get("items")
    allowed = _list(schema.get("enum")) or (_list(items.get("enum")) if isinstance(items, Mapping) else [])
    if "const" in schema:
        parts.append(f"always {_text(schema['const'])}")
    elif allowed:
        more = f" and {len(allowed) - _MOST_VALUES} more" if len(allowed) > _MOST_VALUES else ""
        parts.append(f"one of {', '.join(map(_text, allowed[:_MOST_VALUES]))}{more}")
    if schema.get("default") is not None:
        parts.append(f"default {_text(schema['default'])}")
    return "; ".join(parts)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _description(schema: Any) -> str:
    written = schema.get("description") if isinstance(schema, Mapping) else None
    return " ".join(written.split()) if isinstance(written, str) else ""
