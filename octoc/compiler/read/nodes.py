"""The tree of positions that every format is brought to: where each value and its key stand in the text."""

from __future__ import annotations

import attrs

from octoc.diagnostics.model import KeyPath

Range = tuple[int, int]
"""A half-open range of offsets into the text, in code points."""


@attrs.define(kw_only=True)
class Node:
    """A value's place. Mutable while its tree is built, and only then.

    Args:
        value: range of the value as written, quotes and brackets included.
        key: range of the key that holds it; None for elements of lists and for the root.
        anchor: what to point at when something inside is missing: a table's header, an object's key or opening bracket.
        style: how a string is written, which tells where its characters stand (see `literals`); "" for all else.
        children: by key or index; of a key that is there twice, the first.
    """

    value: Range
    key: Range | None = None
    anchor: Range | None = None
    style: str = ""
    children: dict[str | int, Node] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Duplicate:
    """A key that one object or table has twice: its key path, and the ranges of both keys."""

    path: KeyPath
    first: Range
    second: Range


@attrs.frozen(kw_only=True)
class Positions:
    """All positions of one file's text."""

    root: Node
    duplicates: tuple[Duplicate, ...] = ()


def offset_to_line_column(text: str, offset: int) -> tuple[int, int]:
    """Return the line and the column of `offset`, both from 1, columns in code points."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)
