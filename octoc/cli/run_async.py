"""Runs the work of a command with servers; the servers end with the command."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

import click

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run to the end, as `asyncio.run`. A signal that asks the process to end cancels the work, as Ctrl-C does.

    Raises: Abort, when one came and all that the work had started has ended.
    """
    import asyncio
    import signal
    import threading

    stopped = False

    async def watched() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()

        def stop() -> None:
            nonlocal stopped
            stopped = True
            if task is not None:
                task.cancel()

        # A parent process that ignores a signal, such as `nohup`, wants it ignored.
        asked = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is not signal.SIG_IGN]
        if threading.current_thread() is threading.main_thread():
            for number in asked:
                loop.add_signal_handler(number, stop)
        return await work

    try:
        return asyncio.run(watched())
    except asyncio.CancelledError:
        if stopped:
            raise click.exceptions.Abort from None
        raise
