"""Sets of tools: numbers of recorded tools, and globs for tools of unlisted servers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from octoc.compiler.model.scopes import Reach
from octoc.compiler.scope.globs import Globs, common, disjoint, uncovered
from octoc.names import ToolId


@attrs.frozen
class ToolSet:
    """Recorded tools by number, and (server, glob) for the future tools of unlisted servers."""

    numbers: frozenset[int] = frozenset()
    globs: Globs = frozenset()

    @classmethod
    def of(cls, reach: Reach, index: Mapping[ToolId, int]) -> ToolSet:
        """Number the tools of a `Reach`."""
        return cls(frozenset(index[tool] for tool in reach.tools if tool in index), reach.globs)

    def __or__(self, other: ToolSet) -> ToolSet:
        return ToolSet(self.numbers | other.numbers, self.globs | other.globs)

    def __and__(self, other: ToolSet) -> ToolSet:
        return ToolSet(self.numbers & other.numbers, common(self.globs, other.globs))

    def without(self, other: ToolSet) -> ToolSet:
        """Return the tools that are not in `other`; a glob is removed if it overlaps with one of `other`."""
        return ToolSet(self.numbers - other.numbers, disjoint(self.globs, other.globs))

    def __bool__(self) -> bool:
        return bool(self.numbers or self.globs)


def missing(asked: ToolSet, has: ToolSet) -> ToolSet:
    """Return the tools of `asked` that are not in `has`."""
    return ToolSet(asked.numbers - has.numbers, uncovered(asked.globs, has.globs))


def union(sets: Iterable[ToolSet]) -> ToolSet:
    """Return the tools of all `sets`."""
    numbers: set[int] = set()
    globs: set[tuple[str, str]] = set()
    for one in sets:
        numbers |= one.numbers
        globs |= one.globs
    return ToolSet(frozenset(numbers), frozenset(globs))
