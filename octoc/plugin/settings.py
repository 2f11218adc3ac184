"""Settings of a server, as an attrs class of a plugin has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import attrs

from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import name_list
from octoc.plugin.protocols import PluginError

T = TypeVar("T")


def settings_of(cls: type[T], written: Mapping[str, Any]) -> T:
    """Return `[servers.NAME.settings]` as the attrs class `cls`.

    A field's default gives its type: true or false, a whole number above 0, a text that is not empty, or a list of
    such texts (a tuple in the class). Its metadata `is` describes a text or a list in a message.
    Raises: PluginError that names the key.
    """
    fields = {field.name: field for field in attrs.fields(cls)}  # type: ignore[arg-type]  # any attrs class
    for key, value in written.items():
        if key not in fields:
            near = did_you_mean(key, fields)
            raise PluginError(f"unknown setting `{key}`: {near or f'expected {name_list(sorted(fields))}'}")
        problem = _problem(value, fields[key].default, fields[key].metadata.get("is"))
        if problem:
            raise PluginError(f"`{key}` must be {problem}")
    return cls(**{key: tuple(value) if isinstance(value, list) else value for key, value in written.items()})


def _problem(value: Any, default: Any, what: str | None) -> str:
    """Return what a value should be; empty if it is that."""
    match default:
        case bool():
            return "" if isinstance(value, bool) else "true or false"
        case int():
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            return "" if is_whole and value > 0 else "a whole number above 0"
        case str():
            return "" if isinstance(value, str) and value else what or "a text"
    is_names = isinstance(value, (list, tuple)) and all(isinstance(one, str) and one for one in value)
    return "" if is_names else what or "a list of texts"
