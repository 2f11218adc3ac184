"""What the SDK and the HTTP server log of clients that have left: nothing that anybody can act on."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import anyio
from starlette.requests import ClientDisconnect

_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, ClientDisconnect)
_LOGGERS = ("mcp.server.streamable_http", "mcp.server.streamable_http_manager", "uvicorn.error")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Meanwhile leave out what is logged as an error when a client leaves in the middle; all else stays as it is."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for one in loggers:
        one.addFilter(_matters)
    try:
        yield
    finally:
        for one in loggers:
            one.removeFilter(_matters)


def _matters(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return error is None or not _is_of_one_gone(error)


def _is_of_one_gone(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_of_one_gone, error.exceptions))
    return isinstance(error, _GONE)
