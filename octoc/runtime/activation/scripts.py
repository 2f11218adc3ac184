"""Run a script of the bundle in its own process group, with a clean environment; it always ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

MAX_OUTPUT_BYTES = 4096
"""The bytes of a script's last output that are kept."""
TERM_S = 2.0
"""The seconds that a terminated script has to clean up."""
_PIPE_S = 1.0
# The variables that a shell and an installer need; none of them has a credential.
_ENVIRONMENT = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)


class AlteredFolderError(Exception):
    """The folder of scripts in the bundle does not match its digests, or a path in it leads out of it."""


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the part of the host's environment that a script gets."""
    return {name: environ[name] for name in _ENVIRONMENT if name in environ}


def how_it_ended(status: int) -> str:
    """Return the meaning of a failed script's status, in words."""
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
    """Run a script in its own process group and return its status; `output` gets its last output.

    The group has ended when this returns or raises. Raises: OSError if the script cannot be started.

    Args:
        given: its standard input.
        cwd: its working folder; None means a new folder, which is deleted afterwards.
        file: the file of `script`, next to the files that it uses; None writes it to a new folder.
        by_first_line: run it by the program in its `#!` line; otherwise, and without such a line, by bash.
    """
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
                    # Child processes may still write, keep the pipe open, or continue to run.
                    await asyncio.wait([reading], timeout=_PIPE_S)
                    _signal(process, "SIGKILL")
                    return status
                finally:
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)


def _interpreter(script: str, environment: Mapping[str, str]) -> list[str]:
    """Return the program that runs a script: that of its `#!` line, or bash for shell scripts and without the line.

    The file itself is not executed, as a temporary folder may be mounted without that permission.
    Source: Octomind runs dependencies by bash, and executes validators.
    """
    line = script.partition("\n")[0].rstrip("\r")
    words = line[2:].split(None, 1) if line.startswith("#!") else []
    named = words[-1].split()[0].rpartition("/")[2] if words else "sh"
    if named not in ("sh", "bash"):
        return [word.strip() for word in words]
    return [shutil.which("bash", path=environment.get("PATH")) or "/bin/sh"]


@contextlib.asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[asyncio.StreamReader, IO[Any]]]:
    """Yield a pipe's two ends. With asyncio's own pipe, a process would not end while a child keeps it open."""
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
    """End the process and its group at the end of the block, if it still runs."""
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
    # It leads its own session, so the group has its number.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.Signals[name])
