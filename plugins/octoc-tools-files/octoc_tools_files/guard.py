"""Run one command and end all that it started. A program of its own: `python -I -S guard.py ARGUMENTS`.

ARGUMENTS is a JSON object (see `bash.Job`). The guard is a process of its own, so that every process of the command is
below it: orphans become its children, also those that left the group or the session. It counts them every few
milliseconds and kills them all above a limit, which also holds for root. When standard input ends, the host does not
wait any more, or is dead. The guard writes one JSON object to the descriptor `report` at its end.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SET_PDEATHSIG, _SET_SUBREAPER, _SET_NO_NEW_PRIVS = 1, 36, 38
_LOOK_S = 0.005
_GRACE_S = 2.0
_END_S = 30.0
_NICE = 5
_FILE_BYTES = 256 * 1024 * 1024
_PAGE = os.sysconf("SC_PAGE_SIZE")


def main(job: dict[str, Any]) -> None:
    """Run the job and report how it ended."""
    missing = set_up()
    if missing:
        report(job, {"why": "refused", "missing": missing})
        return
    home = Path(tempfile.mkdtemp(prefix="octoc-bash-"))
    try:
        for name in ("bin", "tmp"):
            (home / name).mkdir()
        for name, path in job["programs"].items():
            (home / "bin" / name).symlink_to(path)
        os.set_inheritable(job["report"], False)
        shell = start(job, home)
        ended = watch(job, shell)
        if ended["why"] == "time":
            end_softly(shell)
        ended["all_ended"] = end_all(shell)
    finally:
        shutil.rmtree(home, onerror=open_and_retry)
    report(job, ended)


def set_up() -> str:
    """Become the parent of all orphans below. Return what the system lacks; empty if the limits hold."""
    if not sys.platform.startswith("linux"):
        return "Linux"
    if not Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").exists():
        return "the lists of child processes in /proc"
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    # Without new rights, no program can become one that the guard may not kill.
    done = prctl(_SET_SUBREAPER, 1, 0, 0, 0) == 0 and prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    return "" if done else "prctl"


def start(job: dict[str, Any], home: Path) -> int:
    """Start the shell in a group of its own and return its process id, which is the group's."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for kind, most in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, _FILE_BYTES),
            (resource.RLIMIT_DATA, job["memory"]),
        ):
            hard = resource.getrlimit(kind)[1]
            limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (limit, limit))
        os.nice(_NICE)
        os.chdir(job["folder"])
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        places = {"PATH": job["path"] or str(home / "bin"), "HOME": str(home), "TMPDIR": str(home / "tmp")}
        environment = {"LANG": "C.UTF-8", "TERM": "dumb", **places}
        os.execve(job["arguments"][0], job["arguments"], environment)  # noqa: S606  # the command is a shell's already
    except OSError as error:
        os.write(2, f"{error.strerror}\n".encode())
    finally:
        os._exit(127)


def watch(job: dict[str, Any], shell: int) -> dict[str, Any]:
    """Wait until the shell ends, the host stops waiting, or a limit is passed."""
    deadline = time.monotonic() + job["seconds"]
    while True:
        status = reaped(shell)
        if status is not None:
            return {"why": "exit", "status": os.waitstatus_to_exitcode(status)}
        if select.select([0], [], [], _LOOK_S)[0]:
            return {"why": "host"}
        if time.monotonic() > deadline:
            return {"why": "time"}
        below = list(descendants())
        if len(below) > job["processes"]:
            return {"why": "processes"}
        if sum(map(resident, below)) > job["memory"]:
            return {"why": "memory"}


def reaped(shell: int | None = None) -> int | None:
    """Take in all children that have ended; return the shell's status if it is among them."""
    status = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, one = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == shell:
                status = one
    return status


def end_softly(shell: int) -> None:
    """Ask the command to end, and wait a little."""
    kill_group(shell, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE_S
    while time.monotonic() < deadline and any(True for _ in descendants()):
        reaped()
        time.sleep(_LOOK_S)


def end_all(shell: int) -> bool:
    """Kill every process below, again and again until none is left; tell whether none is."""
    deadline = time.monotonic() + _END_S
    while time.monotonic() < deadline:
        # A signal to a group reaches all of it at once, and no process of it can start another one meanwhile.
        kill_group(shell, signal.SIGKILL)
        for pid in descendants():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        time.sleep(0.001)
    return False


def kill_group(shell: int, number: int) -> None:
    """Send a signal to all processes that are still in the command's group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(shell, number)


def descendants() -> Iterator[int]:
    """Yield the processes below this one."""
    pending = [os.getpid()]
    while pending:
        pid = pending.pop()
        found = children(pid)
        yield from found
        pending.extend(found)


def children(pid: int) -> list[int]:
    """Return the processes that the threads of a process started or adopted; none if it has ended."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            found.extend(map(int, (task / "children").read_text(encoding="ascii").split()))
    return found


def resident(pid: int) -> int:
    """Return the bytes of memory that a process has, 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def open_and_retry(_: Any, name: str, __: Any) -> None:
    """Give a folder that the command closed its rights back, and remove what is in it."""
    path = Path(name)
    with contextlib.suppress(OSError):
        path.parent.chmod(0o700)
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o700)
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()


def report(job: dict[str, Any], ended: dict[str, Any]) -> None:
    """Write how the command ended, for the host."""
    with contextlib.suppress(OSError):
        os.write(job["report"], json.dumps(ended).encode())


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
