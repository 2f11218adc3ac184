"""Gateways over HTTP, each an `octoc serve` in a process of its own."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

import attrs

STOP_S = 120.0


@attrs.define
class RunningGateway:
    """An `octoc serve --transport http`: `url` is where MCP is, `log` the lines of stderr, each with its end."""

    process: subprocess.Popen[str]
    url: str
    log: list[str]
    _reader: threading.Thread

    @property
    def base(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def stop(self) -> int:
        """Send SIGTERM unless it has ended, wait until all of `log` is there, and return the exit status."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(STOP_S)
        self._reader.join(STOP_S)
        return status


@contextlib.contextmanager
def running_gateway(
    octoc: Sequence[str], *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[RunningGateway]:
    """Start a gateway on a free port, wait until it serves, and stop it.

    Args:
        octoc: words that start `octoc`.
        arguments: of `octoc serve`, without the transport and the port.

    Raises: AssertionError if it does not start, or ends otherwise than well.
    """
    words = [*octoc, "serve", "--transport", "http", "--port", "0", *arguments]
    with subprocess.Popen(words, stderr=subprocess.PIPE, encoding="utf-8", env=environment) as process:
        try:
            gateway = _started(process)
        except BaseException:
            process.kill()  # else leaving the block waits for it
            raise
        try:
            yield gateway
        except BaseException:
            gateway.stop()
            sys.stderr.write("".join(gateway.log))  # it often says why a test failed
            raise
        status = gateway.stop()
        log = "".join(gateway.log)
        if status != 0 or "Traceback" in log:
            raise AssertionError(f"status {status}: {log}")


def _started(process: subprocess.Popen[str]) -> RunningGateway:
    """Return the gateway when it serves. Raises: AssertionError if it ends before."""
    stderr = process.stderr
    if stderr is None:
        raise AssertionError("there is no stderr")
    log: list[str] = []
    for line in stderr:
        log.append(line)
        _, is_served, url = line.partition("serving MCP at ")
        if is_served:
            break
    else:
        raise AssertionError("".join(log) or "the gateway ended without a word")
    reader = threading.Thread(target=lambda: log.extend(stderr), daemon=True)
    reader.start()
    return RunningGateway(process, url.strip(), log, reader)
