"""Running a script of the bundle in a process group and a clean environment of its own; it always ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

MAX_OUTPUT_BYTES = 4096
"""How much of a script's last output is kept."""
TERM_S = 2.0
"""How long a script that is ended has to clean up."""
_PIPE_S = 1.0
# What a shell and an installer need of the host's environment; nothing of it is a credential.
_ENVIRONMENT = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)


class AlteredFolderError(Exception):
    """The folder of scripts in the bundle is not what its digests say, or a path in it leads out of it."""


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what a script gets of the host's environment."""
    return {name: environ[name] for name in _ENVIRONMENT if name in environ}


def how_it_ended(status: int) -> str:
    """Return in words what the status of a failed script means."""
    return f"it ended with status {status}" if status > 0 else f"signal {-status} ended it"


async def run_script(
    script: str,
    environment: Mapping[str, str],
    output: bytearray,
    *,
    arguments: Sequence[str] = (),
    given: str = "",
    cwd: str | None = None,
    file: Path | None = None,
    by_first_line: bool = False,
) -> int:
    """Run a script in a process group of its own and return its status; `output` gets the last it said.

    Whatever ends the waiting, the group has ended too. Raises: OSError when it cannot be started.

    Args:
        given: its standard input.
        cwd: where it runs; in a folder of its own, which is deleted afterwards, when None.
        file: where `script` lies already, with what it uses beside it; it is not written then.
        by_first_line: run it by what its `#!` line names; without it, and where there is none, by bash.
    """
    import asyncio
    import tempfile

    with tempfile.TemporaryDirectory(prefix="octoc-script-") as folder:
        entered = Path(folder) / "stdin"
        if file is None:
            file = Path(folder) / "script"
            file.write_text(script, encoding="utf-8", newline="\n")
        entered.write_text(given, encoding="utf-8", errors="replace", newline="")
        with entered.open("rb") as stdin:
            async with _pipe() as (reader, write_end):
                process = await asyncio.create_subprocess_exec(
                    *_interpreter(script if by_first_line else "", environment),
                    str(file),
                    *arguments,
                    cwd=cwd or folder,
                    env=dict(environment),
                    stdin=stdin,
                    stdout=write_end,
                    stderr=write_end,
                    start_new_session=True,
                )
                write_end.close()
                reading = asyncio.create_task(_keep_last(reader, output))
                try:
                    async with _ended(process):
                        status = await process.wait()
                    # What the script left behind may say a last word, hold the pipe open for ever, or just live on.
                    await asyncio.wait([reading], timeout=_PIPE_S)
                    _signal(process, "SIGKILL")
                    return status
                finally:
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)


def _interpreter(script: str, environment: Mapping[str, str]) -> list[str]:
    """Return what runs a script: what its `#!` line names, bash for a shell's script and for one without the line.

    Source: Octomind runs dependencies by bash, and executes validators.

    The file itself is not executed: a temporary folder may be mounted so that nothing in it can be.
    """
    import shutil

    line = script.partition("\n")[0].rstrip("\r")
    words = line[2:].split(None, 1) if line.startswith("#!") else []
    named = words[-1].split()[0].rpartition("/")[2] if words else "sh"
    if named not in ("sh", "bash"):
        return [word.strip() for word in words]
    return [shutil.which("bash", path=environment.get("PATH")) or "/bin/sh"]


@contextlib.asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[asyncio.StreamReader, IO[Any]]]:
    """Give a pipe's two ends. One of asyncio's own would keep a process from having ended while somebody holds it."""
    import asyncio

    read_end, write_end = (os.fdopen(number, mode) for number, mode in zip(os.pipe(), ("rb", "wb"), strict=True))
    with write_end:
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), read_end
        )
        try:
            yield reader, write_end
        finally:
            transport.close()


async def _keep_last(stream: asyncio.StreamReader, output: bytearray) -> None:
    while piece := await stream.read(65536):
        output += piece
        del output[:-MAX_OUTPUT_BYTES]


@contextlib.asynccontextmanager
async def _ended(process: asyncio.subprocess.Process) -> AsyncIterator[None]:
    """End the process and its group, should it still run when what is inside is over."""
    import asyncio

    try:
        yield
    finally:
        if process.returncode is None:
            _signal(process, "SIGTERM")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TERM_S):
                    await process.wait()
            _signal(process, "SIGKILL")
            await process.wait()


def _signal(process: asyncio.subprocess.Process, name: str) -> None:
    import signal

    # Its own session's leader, so the group has its number.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.Signals[name])
