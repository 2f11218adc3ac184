"""Waiting for tasks whatever cancels the one that waits."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio


async def outlast(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Wait until no task is left in `tasks`, from which each takes itself out; a cancellation is raised afterwards."""
    import asyncio

    cancelled = False
    while tasks:
        try:
            await asyncio.wait(tuple(tasks))
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
