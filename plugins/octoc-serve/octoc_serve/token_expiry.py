"""Ends what runs for a token when the token expires."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Iterator


@contextlib.contextmanager
def ended_at(expires: float | None, task: asyncio.Task[None]) -> Iterator[None]:
    """During the block, cancel a task when a token expires (Unix time); None is never."""
    if expires is None:
        yield
        return
    timer = asyncio.get_running_loop().call_later(max(0.0, expires - time.time()), task.cancel)
    try:
        yield
    finally:
        timer.cancel()
