"""Dependencies of capabilities: checked, run or ignored, by the workspace's setting `deps`.

`check` looks on PATH for the program in a script's `# check:` line, and executes nothing. Only an explicit `run` in
octoc.toml executes a script, once in the life of a runtime: in a private, read-only copy of its tap's `deps/` from the
bundle, whose digests are verified.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs

from octoc.bundle.digest import sha256_hex
from octoc.choices import DepsLimit
from octoc.runtime.activation.scripts import AlteredFolderError, clean_environment, how_it_ended, run_script
from octoc.runtime.script_limits import lesser

if TYPE_CHECKING:
    from octoc.bundle.model import Bundle, DepEntry, DepFolder
    from octoc.bundle.reader import OpenBundle

State = Literal["ready", "missing", "unknown", "failed", "unasked"]

MAX_SHOWN_CHARS = 300


@attrs.frozen(kw_only=True)
class DepState:
    """The state of one dependency; `note` is why it is `missing`, `unknown` or `failed`, in a few words."""

    name: str
    state: State
    note: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({self.note})" if self.note else self.name


@attrs.define(eq=False)
class _Run:
    task: asyncio.Task[DepState]
    waiting: int = 0


class Dependencies:
    """The dependencies of one runtime: each script runs once, for all waiting calls, and its end is remembered.

    Args:
        secrets_of: returns the resolved references of a server.
        allowed: the most that a bundle may request; None sets no limit.
    """

    def __init__(self, secrets_of: Callable[[str], tuple[str, ...]], allowed: DepsLimit | None) -> None:
        self.environ: Mapping[str, str] = os.environ
        """The host's environment, in which programs are looked up; a script gets a part of it."""
        self._secrets_of = secrets_of
        self._allowed = allowed
        self._runs: dict[tuple[str, str, str], _Run] = {}

    async def states(self, opened: OpenBundle, names: Iterable[str]) -> tuple[DepState, ...]:
        """Return the states of `names`, in order; with `run`, nothing after a failed one is run."""
        wanted = lesser(opened.bundle.settings.deps, self._allowed)
        entries = {entry.name: entry for entry in opened.bundle.deps}
        if wanted == "never":
            return tuple(DepState(name=name, state="unasked") for name in names)
        if wanted != "run":
            return tuple(self._checked(name, entries.get(name)) for name in names)
        states: list[DepState] = []
        for name in names:
            states.append(await self._ran(opened, name, entries.get(name)))
            if states[-1].state == "failed":
                break
        return tuple(states)

    async def close(self) -> None:
        """End every script that is running."""
        tasks = [run.task for run in self._runs.values() if not run.task.done()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _checked(self, name: str, entry: DepEntry | None) -> DepState:
        if entry is None or entry.program is None:
            return DepState(name=name, state="unknown", note="nothing says how to look for it")
        if shutil.which(entry.program, path=self.environ.get("PATH")) is None:
            return DepState(name=name, state="missing", note=f"no `{entry.program}` on PATH")
        return DepState(name=name, state="ready")

    async def _ran(self, opened: OpenBundle, name: str, entry: DepEntry | None) -> DepState:
        if entry is None or not entry.digest:
            return DepState(name=name, state="failed", note="the bundle has no script for it")
        folder = _folder_of(opened.bundle, entry)
        key = (name, entry.digest, "" if folder is None else folder.digest)
        run = self._runs.get(key)
        if run is None:
            task = asyncio.create_task(self._run(opened, entry), name=f"octoc dependency {name}")
            run = self._runs[key] = _Run(task)
        run.waiting += 1
        try:
            return await asyncio.shield(run.task)
        except asyncio.CancelledError:
            waiting = asyncio.current_task()
            if run.task.cancelled() and waiting is not None and not waiting.cancelling():
                return DepState(name=name, state="failed", note="the runtime is closed")
            raise
        finally:
            run.waiting -= 1
            if not run.waiting and not run.task.done():
                # No call waits for it any more; the next one runs it again.
                self._runs.pop(key, None)
                run.task.cancel()
                await asyncio.gather(run.task, return_exceptions=True)

    async def _run(self, opened: OpenBundle, entry: DepEntry) -> DepState:
        text = opened.text(entry.script)
        if sha256_hex(text.encode("utf-8")) != entry.digest:
            return DepState(name=entry.name, state="failed", note="its script is not what was built")
        limit = opened.bundle.settings.deps_timeout_s
        output = bytearray()
        try:
            async with asyncio.timeout(limit), self._script(opened, entry) as file:
                status = await run_script(text, clean_environment(self.environ), output, file=file)
        except AlteredFolderError:
            return DepState(name=entry.name, state="failed", note="its folder is not what was built")
        except TimeoutError:
            why = f"it did not end within {limit:g} s"
        except OSError as error:
            why = f"it did not start: {error.strerror or 'the system refused it'}"
        else:
            if status == 0:
                return DepState(name=entry.name, state="ready")
            why = how_it_ended(status)
        from octoc.secrets import redact  # local, as below: most bundles have nothing to run

        text = _last_words(bytes(output), lambda text: redact(text, self.secrets(opened.bundle)))
        return DepState(name=entry.name, state="failed", note=f"{why}: {text}" if text else why)

    @contextlib.asynccontextmanager
    async def _script(self, opened: OpenBundle, entry: DepEntry) -> AsyncIterator[Path | None]:
        """Yield the script's file in a copy of its tap's folder; None if the bundle has only the script."""
        if not entry.folder:
            yield None
            return
        folder = _folder_of(opened.bundle, entry)
        if folder is None:
            raise AlteredFolderError
        from octoc.runtime.activation.dependency_folder import copied

        async with copied(folder, opened) as root:
            file = root / f"{entry.name}.sh"  # it may be a link, or be below one
            if sha256_hex(file.read_bytes()) != entry.digest:
                raise AlteredFolderError
            yield file

    def secrets(self, bundle: Bundle) -> tuple[str, ...]:
        """Return the credentials of servers and of the host, which a script's output must not show."""
        from octoc.credentials import is_secret_name

        own = (value for name, value in self.environ.items() if is_secret_name(name))
        of_servers = (value for server in bundle.servers for value in self._secrets_of(server.name))
        return tuple(dict.fromkeys(value for value in (*own, *of_servers) if value))


def _folder_of(bundle: Bundle, entry: DepEntry) -> DepFolder | None:
    return next((folder for folder in bundle.dep_folders if folder.name == entry.folder), None)


def _last_words(output: bytes, redacted: Callable[[str], str]) -> str:
    """Return the printable end of a script's output on one line."""
    text = " ".join(redacted(output.decode("utf-8", "replace")).split())
    text = "".join(character for character in text if character.isprintable()).rstrip(".")
    return text if len(text) <= MAX_SHOWN_CHARS else "…" + text[-MAX_SHOWN_CHARS:]
