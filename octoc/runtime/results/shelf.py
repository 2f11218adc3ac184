"""Handles of kept texts in one place, memory or disk, by account and by last use."""

from __future__ import annotations

from collections import OrderedDict

from octoc.runtime.shares import gives_way


class Shelf:
    """Texts of at most `limit` bytes in all. The account with most bytes gives way, its oldest text first."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._bytes: dict[str, int] = {}
        self._sizes: dict[str, OrderedDict[str, int]] = {}

    def add(self, account: str, handle: str, size: int) -> None:
        """Add a text of `size` bytes; `used` may then be above the limit."""
        self.used += size
        self._bytes[account] = self._bytes.get(account, 0) + size
        self._sizes.setdefault(account, OrderedDict())[handle] = size

    def remove(self, account: str, handle: str) -> None:
        """Remove a text."""
        size = self._sizes[account].pop(handle)
        self.used -= size
        self._bytes[account] -= size
        if not self._sizes[account]:
            del self._sizes[account], self._bytes[account]

    def touch(self, account: str, handle: str) -> None:
        """Note that a text was used."""
        self._sizes[account].move_to_end(handle)

    def next_out(self, asking: str, size: int = 0) -> str | None:
        """Return the handle that makes room for `size` more bytes of `asking`; None if there is room.

        Raises: LookupError where `asking` gives way itself and has nothing here.
        """
        if self.used + size <= self.limit:
            return None
        loser = gives_way({**self._bytes, asking: self._bytes.get(asking, 0) + size}, asking)
        return next(iter(self._sizes[loser]))

    def clear(self) -> None:
        """Remove all texts."""
        self.used = 0
        self._bytes.clear()
        self._sizes.clear()
