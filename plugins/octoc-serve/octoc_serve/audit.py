"""The gateway's audit log: a line of JSON for each call, without arguments, in a file that may be rotated."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs

from octoc.plugin import AuditLog, ToolCall, ToolFailure, ToolResult, hookimpl
from octoc_serve.session_store import session_label
from octoc_serve.settings import GatewayError

STDERR = Path("-")
_MODE = 0o600


class RotatedFile:
    """A file that lines are appended to. It is made again, with mode 600, when another program moved or deleted it."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises: OSError."""
        self._path = path.absolute()
        self._opened = self._open()

    def write(self, text: str) -> None:
        """Append a text in one piece. Raises: OSError."""
        if not self._is_current():
            opened = self._open()
            os.close(self._opened)
            self._opened = opened
        left = text.encode()
        while left:
            left = left[os.write(self._opened, left) :]

    def flush(self) -> None:
        """Do nothing: no text waits in this process."""

    def close(self) -> None:
        os.close(self._opened)

    def _open(self) -> int:
        return os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, _MODE)

    def _is_current(self) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._opened))  # noqa: PTH116  # as its neighbour
        except FileNotFoundError:
            return False


class _GatewayAudit:
    """Writes each call with a digest of its MCP session, as only the session's client may know the id."""

    def __init__(self, log: AuditLog) -> None:
        self._log = log

    @hookimpl
    def octoc_call_finished(
        self, server: str, call: ToolCall, outcome: ToolResult | ToolFailure, seconds: float
    ) -> None:
        if call.caller.session is not None:
            caller = attrs.evolve(call.caller, session=session_label(call.caller.session))
            call = attrs.evolve(call, caller=caller)
        self._log.octoc_call_finished(server, call, outcome, seconds)


@contextlib.contextmanager
def audited(path: Path | None) -> Iterator[tuple[object, ...]]:
    """Yield the observers that write calls to a file, `STDERR` or nowhere. Raises: GatewayError."""
    if path is None:
        yield ()
    elif path == STDERR:
        yield (_GatewayAudit(AuditLog(sys.stderr)),)
    else:
        try:
            file = RotatedFile(path)
        except OSError as error:
            raise GatewayError(
                f"the audit log `{path}` cannot be written: {error.strerror}",
                "--audit names a file in a folder that this user may write, and `-` is stderr",
            ) from None
        with contextlib.closing(file):
            yield (_GatewayAudit(AuditLog(file)),)
