"""Sets of globs with an index, since a server can have thousands of names.

Only a `*` at the end is a wildcard, so two globs overlap only if one covers the other.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

import attrs

from octoc.compiler.resolve.spelling import stem

Globs = frozenset[tuple[str, str]]
"""(server, glob) of unlisted servers."""

_KEPT = 64


@attrs.frozen
class _Server:
    """The globs of one server. `stems` are (text before the `*`, glob), sorted; `prefixes` those of wildcards."""

    globs: frozenset[str]
    stems: tuple[tuple[str, str], ...]
    prefixes: frozenset[str]
    lengths: tuple[int, ...]
    """The lengths of the prefixes."""

    @classmethod
    def of(cls, globs: frozenset[str]) -> _Server:
        prefixes = frozenset(stem(glob) for glob in globs if glob.endswith("*"))
        return cls(
            globs, tuple(sorted((stem(glob), glob) for glob in globs)), prefixes, tuple(sorted(set(map(len, prefixes))))
        )

    def covers(self, glob: str) -> bool:
        text = stem(glob)
        return glob in self.globs or any(
            text[:length] in self.prefixes for length in self.lengths if length <= len(text)
        )

    def within(self, glob: str) -> Iterator[str]:
        """Yield the globs that `glob` covers."""
        if not glob.endswith("*"):
            if glob in self.globs:
                yield glob
            return
        prefix = stem(glob)
        for at in range(bisect_left(self.stems, (prefix,)), len(self.stems)):
            text, found = self.stems[at]
            if not text.startswith(prefix):
                return
            yield found


def meets(server: str, glob: str, by: Globs) -> bool:
    """Tell whether a name can match both `glob` and one of `by`."""
    others = _indexed(by).get(server)
    return others is not None and (others.covers(glob) or next(others.within(glob), None) is not None)


def common(ones: Globs, others: Globs) -> Globs:
    """Return globs for the names that both sets match."""
    few, many = (ones, others) if len(ones) <= len(others) else (others, ones)
    if not few:
        return frozenset()
    index = _indexed(many)
    both: set[tuple[str, str]] = set()
    for server, glob in few:
        indexed = index.get(server)
        if indexed is None:
            continue
        if indexed.covers(glob):
            both.add((server, glob))
        both.update((server, other) for other in indexed.within(glob))
    return frozenset(both)


def uncovered(globs: Globs, by: Globs) -> Globs:
    """Return the globs that no glob of `by` covers."""
    if not globs or not by:
        return globs
    index = _indexed(by)
    return frozenset((server, glob) for server, glob in globs if server not in index or not index[server].covers(glob))


def disjoint(globs: Globs, by: Globs) -> Globs:
    """Return the globs that overlap with no glob of `by`."""
    return frozenset((server, glob) for server, glob in globs if not meets(server, glob, by)) if by else globs


@lru_cache(maxsize=_KEPT)  # many agents share one set of globs
def _indexed(globs: Globs) -> dict[str, _Server]:
    servers: dict[str, set[str]] = {}
    for server, glob in globs:
        servers.setdefault(server, set()).add(glob)
    return {server: _Server.of(frozenset(found)) for server, found in servers.items()}
