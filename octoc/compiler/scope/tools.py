"""Sets of tools, by number, and of what unlisted servers may have, by glob."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from octoc.compiler.model.scopes import Reach
from octoc.compiler.scope.globs import Globs, common, disjoint, uncovered
from octoc.names import ToolId


@attrs.frozen
class Tools:
    """Recorded tools by number, and (server, glob) of unlisted servers: what they will list and the glob matches."""

    numbers: frozenset[int] = frozenset()
    globs: Globs = frozenset()

    @classmethod
    def of(cls, reach: Reach, index: Mapping[ToolId, int]) -> Tools:
        """Number the tools of a `Reach`."""
        return cls(frozenset(index[tool] for tool in reach.tools if tool in index), reach.globs)

    def __or__(self, other: Tools) -> Tools:
        return Tools(self.numbers | other.numbers, self.globs | other.globs)

    def __and__(self, other: Tools) -> Tools:
        return Tools(self.numbers & other.numbers, common(self.globs, other.globs))

    def without(self, other: Tools) -> Tools:
        """Return what is left. A glob that may match a part of what is taken away goes as a whole: globs only widen."""
        return Tools(self.numbers - other.numbers, disjoint(self.globs, other.globs))

    def __bool__(self) -> bool:
        return bool(self.numbers or self.globs)


def missing(asked: Tools, has: Tools) -> Tools:
    """Return what of `asked` is not in `has`."""
    return Tools(asked.numbers - has.numbers, uncovered(asked.globs, has.globs))


def union(sets: Iterable[Tools]) -> Tools:
    """Return all that is in one of `sets`."""
    numbers: set[int] = set()
    globs: set[tuple[str, str]] = set()
    for one in sets:
        numbers |= one.numbers
        globs |= one.globs
    return Tools(frozenset(numbers), frozenset(globs))
