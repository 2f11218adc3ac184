"""Imports of slow modules in a thread, so that the event loop serves others meanwhile."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from types import ModuleType

_imported: set[str] = set()
_one_at_a_time = threading.Lock()


def _after_fork() -> None:
    global _one_at_a_time  # noqa: PLW0603  # the thread that holds the parent's lock is not in the child
    _one_at_a_time = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def import_in_thread(name: str) -> ModuleType:
    """Return the module `name` when its import is complete.

    Code that needs a part of the module's package waits for this first. Where one thread imports a package and another
    a module inside it, each can hold the lock that the other waits for, and Python then fails one of the imports. That
    `name` is in `sys.modules` does not say that its import is complete.

    Raises: as the import does.
    """
    if name not in _imported:
        import asyncio  # programs that never call a tool do not load it

        await asyncio.to_thread(_import, name)
    return sys.modules[name]


def _import(name: str) -> None:
    with _one_at_a_time:
        importlib.import_module(name)
    _imported.add(name)
