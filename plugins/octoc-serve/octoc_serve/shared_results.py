"""A session's whole results in the shared store, for `read_result` on any replica."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import attrs

from octoc.runtime import SharedResult, SharedResultsError, ToolId
from octoc_serve.shared_store import RESULTS, SharedStore, SharedStoreError


@attrs.frozen
class StoredResults:
    """The results of one session in the store.

    Args:
        owner: key of the session's record; only who knows it reads the results.
        seconds: returns for how long a result is kept.
    """

    store: SharedStore
    owner: str
    seconds: Callable[[], float]

    async def keep(self, handle: str, result: SharedResult) -> str | None:
        """Store a result. Returns None, or why it was not stored."""
        source = None if result.source is None else [result.source.server, result.source.tool]
        value = {"texts": list(result.texts), "source": source, "bundle": result.bundle}
        try:
            await self.store.put(RESULTS, self._key(handle), value, self.seconds())
        except SharedStoreError as problem:
            return str(problem)
        return None

    async def find(self, handle: str) -> SharedResult | None:
        """Return a stored result; None for an unknown handle. Raises: SharedResultsError."""
        try:
            value = await self.store.get(RESULTS, self._key(handle))
        except SharedStoreError as problem:
            raise SharedResultsError(str(problem)) from None
        if value is None:
            return None
        source = value["source"]
        return SharedResult(
            texts=tuple(map(str, value["texts"])),
            source=None if source is None else ToolId(*source),
            bundle=value["bundle"],
        )

    def _key(self, handle: str) -> str:
        return hashlib.sha256(f"{self.owner}\0{handle}".encode("utf-8", "surrogatepass")).hexdigest()
