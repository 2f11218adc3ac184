"""Sets of tools, by number, and of what unlisted servers may have, by glob."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from octoc.compiler.model.scopes import Reach
from octoc.compiler.resolve.spelling import covers, meet
from octoc.names import ToolId

Globs = frozenset[tuple[str, str]]
"""(server, glob) of unlisted servers."""


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
        return Tools(
            self.numbers - other.numbers,
            frozenset(
                (server, glob)
                for server, glob in self.globs
                if not any(server == of and meet(glob, taken) is not None for of, taken in other.globs)
            ),
        )

    def __bool__(self) -> bool:
        return bool(self.numbers or self.globs)


def common(ones: Globs, others: Globs) -> Globs:
    """Return what globs of both sets match."""
    found = ((server, meet(glob, other)) for server, glob in ones for of, other in others if of == server)
    return frozenset((server, glob) for server, glob in found if glob is not None)


def uncovered(globs: Globs, by: Globs) -> Globs:
    """Return those that no glob of `by` matches as a whole."""
    return frozenset(
        (server, glob) for server, glob in globs if not any(of == server and covers(other, glob) for of, other in by)
    )


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
