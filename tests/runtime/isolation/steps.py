"""Counting the work of one call, so that a busy machine, a collection of garbage or a thread counts for nothing."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import octoc

T = TypeVar("T")

_HOME = f"{Path(octoc.__file__).parent}/"
_counted: ContextVar[bool] = ContextVar("counted", default=False)


async def counted(work: Callable[[], Awaitable[T]]) -> tuple[T, Counter[str]]:
    """Return what `work` returns, and how often each line of octoc ran for it.

    Lines are counted, and not the entries of frames: a coroutine is entered once more if the thread that it waits for
    takes longer. Only the tasks that `work` starts count: others go on at any time, and so do finalizers.
    """
    lines: Counter[str] = Counter()

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            lines[f"{frame.f_code.co_filename.removeprefix(_HOME)}:{frame.f_lineno}"] += 1
        return line

    def entered(frame: FrameType, _event: str, _: Any) -> Any:
        return line if _counted.get() and frame.f_code.co_filename.startswith(_HOME) else None

    gc.disable()
    before = sys.gettrace()
    token = _counted.set(True)
    sys.settrace(entered)
    try:
        return await work(), lines
    finally:
        sys.settrace(before)
        _counted.reset(token)
        gc.enable()
