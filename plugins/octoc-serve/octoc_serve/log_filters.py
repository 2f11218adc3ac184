"""What the SDK and the HTTP server log of clients: no whole session ids, and nothing that nobody can act on."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import anyio
from starlette.requests import ClientDisconnect

from octoc.plain_text import cut_session_ids

_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, ClientDisconnect)
_FOREIGN = ("Unsupported upgrade request", "No supported WebSocket library", "Invalid HTTP request received")
"""How uvicorn's warnings on bytes that are no request, and on WebSockets, begin: who sends them gets an answer."""
_LOGGERS = ("mcp.server.streamable_http", "mcp.server.streamable_http_manager", "uvicorn.error")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Meanwhile leave out what is logged when a client leaves in the middle, or sends nonsense; all else stays."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for one in loggers:
        one.addFilter(_matters)
    try:
        yield
    finally:
        for one in loggers:
            one.removeFilter(_matters)


def _matters(record: logging.LogRecord) -> bool:
    record.msg, record.args = cut_session_ids(record.getMessage()), ()
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return not record.getMessage().startswith(_FOREIGN)
    return not _is_of_one_gone(error)


def _is_of_one_gone(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_of_one_gone, error.exceptions))
    return isinstance(error, _GONE)
