"""Taking over a bundle and tokens when their files change or SIGHUP says so; what is refused leaves all as it was."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from octoc.bundle.refusal import BundleRefused
from octoc_serve.error_boundary import survived
from octoc_serve.session_store import States

if TYPE_CHECKING:
    from octoc.runtime import Runtime

logger = logging.getLogger(__name__)

POLL_S = 1.0
_Stamp = tuple[int, int, int] | None
Stamps = Mapping[Path, _Stamp]
Watched = tuple[Path, Callable[[], Awaitable[object]]]
"""A file, and what to do when it has changed."""


class Refresher:
    """Has every client's view taken over what changed, one run at a time; what changes meanwhile begins another."""

    def __init__(self, runtime: Runtime, states: States) -> None:
        self._runtime = runtime
        self._states = states
        self._wanted = asyncio.Event()
        self._replaced = False
        self._listen()

    def _listen(self) -> None:
        """Hear of every list of tools that a server of the runtime's bundle gives."""
        for server in self._runtime.servers:
            self._runtime.state.current.pool.listen(server, lambda _: self._wanted.set())

    async def run(self) -> None:
        """Work until cancelled."""
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            for served in self._states.all():
                with survived("showing a client what changed"):
                    await served.refresh()

    def take_over(self) -> None:
        """Have a run begin, for another bundle than before."""
        self._listen()
        self._replaced = True
        self._wanted.set()

    def tidy(self) -> None:
        """Let go of the bundle before, once all have left it: its file is mapped for as long as its parts are there.

        They refer to each other, and a process that has little to do collects no garbage by itself.
        """
        if self._replaced:
            self._replaced = False
            gc.collect()


async def reload(runtime: Runtime, bundle: Path, refresher: Refresher) -> bool:
    """Go over to the bundle's file as it is now; tell whether it could be used."""
    try:
        await runtime.reload(bundle)
    except (BundleRefused, OSError) as refused:
        logger.error("the new bundle is refused, the old one stays: %s", refused)  # noqa: TRY400  # the refusal says all
        return False
    refresher.take_over()
    return True


def stamps(*paths: Path | None) -> Stamps:
    """Return what the files are now, to be taken before they are read: what changes meanwhile is a change, too."""
    return {path: _stamp(path) for path in paths if path is not None}


async def watch(files: Sequence[Watched], since: Stamps, asked: asyncio.Event, poll_s: float = POLL_S) -> None:
    """Run until cancelled: call what goes with a file when that is not as it was, or all when `asked` is set."""
    seen = [since[path] for path, _ in files]
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asked.wait(), poll_s)
        all_of_them = asked.is_set()
        asked.clear()
        for number, (path, act) in enumerate(files):
            stamp = _stamp(path)
            if all_of_them or stamp != seen[number]:
                seen[number] = stamp
                with survived(f"taking over `{path.name}`"):
                    await act()


def _stamp(path: Path) -> _Stamp:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_ino, status.st_size)
