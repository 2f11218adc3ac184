"""Filters for the logs of the SDK and the HTTP server: no full session ids, and no noise from clients."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import anyio
from starlette.requests import ClientDisconnect

from octoc.plugin.toolkit import cut_session_ids

_DISCONNECTS = (anyio.ClosedResourceError, anyio.BrokenResourceError, ClientDisconnect)
_FOREIGN = ("Unsupported upgrade request", "No supported WebSocket library", "Invalid HTTP request received")
"""Start of uvicorn's warnings about invalid requests and WebSockets. The client gets an answer, so no log is needed."""
_LOGGERS = ("mcp.server.streamable_http", "mcp.server.streamable_http_manager", "uvicorn.error")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """During the block, drop log records about clients that disconnect early or send invalid requests."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for one in loggers:
        one.addFilter(_is_relevant)
    try:
        yield
    finally:
        for one in loggers:
            one.removeFilter(_is_relevant)


def _is_relevant(record: logging.LogRecord) -> bool:
    record.msg, record.args = cut_session_ids(record.getMessage()), ()
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return not record.getMessage().startswith(_FOREIGN)
    return not _is_disconnect(error)


def _is_disconnect(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_disconnect, error.exceptions))
    return isinstance(error, _DISCONNECTS)
