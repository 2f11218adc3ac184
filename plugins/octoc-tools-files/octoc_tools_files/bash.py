"""`Bash`: one command of a shell, watched by a guard that ends all that the command started.

It is not a sandbox: a program that is allowed can do whatever its user can do, also outside of the folder.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs

from octoc.plugin import ToolResult
from octoc_tools_files.settings import ANY_PROGRAM, FileToolSettings
from octoc_tools_files.texts import cut

GUARD = Path(__file__).with_name("guard.py")
_MAX_BYTES = 8 * 1024 * 1024
_PART = 64 * 1024
_USUAL_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_LOOK_MS = 20
_END_S = 45.0
"""How long the guard may take beyond the time of the command, before it counts as lost."""


@attrs.frozen
class Job:
    """What the guard gets.

    Args:
        arguments: the shell and its arguments.
        folder: where the command runs.
        programs: name -> path, of the programs that the shell finds. `path` is where it looks for them instead.
        seconds: how long it may take; processes and memory (bytes) as in `FileToolSettings`.
        report: the descriptor that the guard writes to.
    """

    arguments: tuple[str, ...]
    folder: str
    programs: Mapping[str, str]
    path: str
    seconds: int
    processes: int
    memory: int
    report: int


def run_command(
    command: str, seconds: int, folder: str, settings: FileToolSettings, stop: threading.Event
) -> ToolResult:
    """Return what a command writes, and how it ended; after `stop` is set, it is ended at once.

    When this returns, no process of the command runs any more. The guard ends the command also if this process dies.
    """
    shell = shutil.which("bash")
    if shell is None:
        return _error("Error executing command: Bash does not start, as there is no program `bash`")
    if "\0" in command:
        return _error("Error executing command: a command has no character NUL")
    is_open = ANY_PROGRAM in settings.programs
    reported, report = os.pipe()
    job = Job(
        arguments=(shell, "--noprofile", "--norc", *(() if is_open else ("--restricted",)), "-c", command),
        folder=folder,
        programs={} if is_open else found_programs(settings.programs),
        path=_USUAL_PATH if is_open else "",
        seconds=min(seconds, settings.seconds),
        processes=settings.processes,
        memory=settings.memory_mb * 1024 * 1024,
        report=report,
    )
    try:
        guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(GUARD), json.dumps(attrs.asdict(job))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            pass_fds=(report,), env={"TMPDIR": tempfile.gettempdir()}, start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        os.close(reported)
        return _error(f"Error executing command: {error.strerror}")
    finally:
        os.close(report)
    output = _Output(guard)
    try:
        output.read(stop, time.monotonic() + job.seconds + _END_S)
    finally:
        output.close()
        ended = _parsed(os.read(reported, _PART))
        os.close(reported)
    return _result(job, output, ended)


def found_programs(names: tuple[str, ...]) -> dict[str, str]:
    """Return the programs that this machine has, by the name that a command calls them by."""
    paths = {Path(name).name: shutil.which(name) for name in names}
    return {name: path for name, path in paths.items() if path is not None}


class _Output:
    """The two streams of a guard."""

    def __init__(self, guard: subprocess.Popen[bytes]) -> None:
        self._guard = guard
        self.out, self.err = bytearray(), bytearray()
        self.is_too_long = False

    def read(self, stop: threading.Event, deadline: float) -> None:
        """Read until the guard ends; end the command after too much output, and when `stop` is set."""
        assert self._guard.stdout is not None  # noqa: S101  # pipes were asked for
        assert self._guard.stderr is not None  # noqa: S101
        streams = {self._guard.stdout.fileno(): self.out, self._guard.stderr.fileno(): self.err}
        polled = select.poll()  # a host may have more descriptors than `select` takes
        for fd in streams:
            polled.register(fd, select.POLLIN)
        while streams and time.monotonic() < deadline:
            if stop.is_set() or self.is_too_long:
                self._end_command()
            has_ended = self._guard.poll() is not None
            ready = polled.poll(_LOOK_MS)
            if has_ended and not ready:  # what it could not end may hold the streams
                return
            for fd, _ in ready:
                part = os.read(fd, _PART)
                if not part:
                    polled.unregister(fd)
                    del streams[fd]
                elif not self.is_too_long:
                    streams[fd].extend(part)
            self.is_too_long = len(self.out) + len(self.err) > _MAX_BYTES

    def _end_command(self) -> None:
        if self._guard.stdin is not None:
            self._guard.stdin.close()

    def close(self) -> None:
        """End the command, if it still runs, and wait for its guard."""
        self._end_command()
        try:
            self._guard.wait(_END_S)
        except subprocess.TimeoutExpired:  # it hangs in the kernel, or was stopped from outside
            with suppress(ProcessLookupError):
                os.killpg(self._guard.pid, signal.SIGKILL)
            self._guard.wait()
        for stream in (self._guard.stdout, self._guard.stderr):
            if stream is not None:
                stream.close()


def _parsed(report: bytes) -> Mapping[str, Any]:
    try:
        ended = json.loads(report)
    except ValueError:
        return {"why": "lost"}
    return ended if isinstance(ended, dict) else {"why": "lost"}


def _result(job: Job, output: _Output, ended: Mapping[str, Any]) -> ToolResult:
    if not ended.get("all_ended", True):
        return _error("Error: Command was ended, and the system has not ended some of its processes")
    if output.is_too_long:
        return _error(f"Error: Command wrote more than {_MAX_BYTES} bytes, and was ended")
    if ended["why"] != "exit":
        return _error(
            _ENDS[ended["why"]].format(job=job, mib=job.memory // (1024 * 1024), missing=ended.get("missing"))
        )
    parts = []
    if output.out:
        parts.append(_text(output.out))
    if output.err:
        parts.append(f"[stderr]\n{_text(output.err)}")
    if ended["status"] != 0:
        parts.append(f"[exit code: {ended['status']}]")
    return ToolResult.of_text(cut("\n".join(parts)) if parts else "(no output)")


_ENDS = {
    "time": "Error: Command timed out after {job.seconds}s",
    "processes": "Error: Command started more than {job.processes} processes, and was ended",
    "memory": "Error: Command took more than {mib} MiB of memory, and was ended",
    "host": "Error: Command was ended before it finished",
    "lost": "Error executing command: its guard ended early",
    "refused": "Error executing command: Bash does not start, as its limits need {missing}",
}


def _text(written: bytearray) -> str:
    return written.decode("utf-8", "replace")


def _error(text: str) -> ToolResult:
    return ToolResult.of_text(text, is_error=True)
