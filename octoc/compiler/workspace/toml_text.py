"""Tables, lists and comments of TOML files that people own, made with tomlkit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import tomlkit
from tomlkit.items import AoT, Array, Comment, Table

_WIDTH = 120


def add_comment(to: tomlkit.TOMLDocument | Table, text: str) -> None:
    """Add `text` as comment lines, one for each of its lines."""
    for line in text.splitlines():
        to.add(tomlkit.comment(line))


def table_of(values: Mapping[str, Any]) -> Table:
    """Return a table; a list is on one line if it fits."""
    table = tomlkit.table()
    for key, value in values.items():
        table.add(
            key,
            array_of(value, len(key) + 3)
            if isinstance(value, list | tuple) and not isinstance(value, Array)
            else value,
        )
    return table


def add_table(document: tomlkit.TOMLDocument, path: tuple[str, ...], values: Mapping[str, Any]) -> Table:
    """Add `values` as the table at `path`, one or two keys, and return it."""
    table = top = table_of(values)
    if len(path) > 1:
        top = tomlkit.table(is_super_table=True)
        top.add(path[1], table)
    _add(document, path[0], top)
    return table


def add_tables(document: tomlkit.TOMLDocument, key: str, each: Iterable[Mapping[str, Any]]) -> None:
    """Add `[[key]]` for each of the values; nothing if there are none."""
    tables = AoT([table_of(values) for values in each])
    if tables:
        _add(document, key, tables)


def _add(document: tomlkit.TOMLDocument, key: str, item: Table | AoT) -> None:
    follows_comment = bool(document.body) and isinstance(document.body[-1][1], Comment)
    document.add(key, item)
    if follows_comment:  # tomlkit separates every table by an empty line
        (item[0] if isinstance(item, AoT) else item).trivia.indent = ""


def array_of(texts: Iterable[str], before: int, *, one_each: bool = False) -> Array:
    """Return a list, on one line where `before` characters leave the room and `one_each` does not forbid it."""
    array = tomlkit.array()
    array.extend(texts)
    if array and (one_each or before + len(array.as_string()) > _WIDTH):
        array.multiline(multiline=True)
    return array
