"""`octoc` as forks of one process that has imported the gateway: the imports are most of the time that a start takes.

The words of `forked_octoc` run this file, without octoc. It hands its streams, words, folder and environment to a fork,
passes signals on, and ends as the fork does. A fork is the real command in a process of its own. Tests of imports, and
of process groups, use `python -m octoc`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PRELOADED = (
    "octoc.cli.plugin_commands",
    "octoc.compiler.workspace.build",
    "octoc_serve.gateway",
    "octoc_serve.http",
    "octoc_serve.watch",
    "octoc_dashboard.app",
    "octoc_transport_mcp.connection",
)
"""None of them may start a thread, since a fork has none of its parent's."""
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@contextlib.contextmanager
def forked_octoc() -> Iterator[list[str]]:
    """Yield words that start `octoc` as `python -m octoc` does, until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/octoc"
        begin = f"from {__name__} import _serve; _serve({place!r})"
        with subprocess.Popen(
            [sys.executable, "-c", begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        ) as server:
            if not (server.stdin and server.stdout and server.stdout.readline()):
                raise RuntimeError("the process to fork did not start")
            yield [sys.executable, "-I", "-S", str(Path(__file__)), place]
            server.stdin.close()


def _serve(place: str) -> None:
    """Start a fork for each connection, until stdin ends."""
    import gc
    import importlib
    import select

    for name in PRELOADED:
        importlib.import_module(name)
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen(64)
        os.write(1, b"ready\n")
        while listener.fileno() in select.select([listener.fileno(), 0], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                _attend(connection)
                return
            connection.close()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _attend(connection: socket.socket) -> None:
    """Run one command: return in its process, and exit in the one that waits for it."""
    data, streams, _, _ = socket.recv_fds(connection, 65536, 3)
    while not data.endswith(b"\n"):
        data += connection.recv(65536)
    process = os.fork()
    if process == 0:
        connection.close()
        _run(json.loads(data), streams)
        return
    for number in (0, 1, *streams):
        os.close(number)
    threading.Thread(target=_pass_on, args=(connection, process), daemon=True).start()
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with contextlib.suppress(OSError):  # the program that asked was killed
        connection.sendall(str(status).encode())
    os._exit(0)


def _pass_on(connection: socket.socket, process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        while number := connection.recv(1):
            os.kill(process, number[0])
        os.kill(process, signal.SIGKILL)


def _run(request: dict[str, Any], streams: list[int]) -> None:
    from octoc.cli import main

    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout = open(0), open(1, "w")  # noqa: SIM115  # as long as the process
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115  # likewise
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["octoc", *request["words"]]
    sys.exit(main(sys.argv[1:]))


def _start(place: str, words: list[str]) -> int:
    """Have a fork run `octoc` with these words and the streams of this process, and return its status."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(place)
    request = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}  # noqa: PTH109  # starts sooner
    for number in PASSED_ON:
        signal.signal(number, lambda sent, _: connection.sendall(bytes([sent])))
    socket.send_fds(connection, [json.dumps(request).encode() + b"\n"], [0, 1, 2])
    closed = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(closed, stream)
    status = int(b"".join(iter(lambda: connection.recv(64), b"")))
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    return status


if __name__ == "__main__":
    sys.exit(_start(sys.argv[1], sys.argv[2:]))
