"""Wait for tasks to the end, even if the waiting task is cancelled."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


async def outlast(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Wait until all `tasks`, which may change meanwhile, are done. Raises: CancelledError afterwards if cancelled."""
    import asyncio

    cancelled = False
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
