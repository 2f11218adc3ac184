"""Cuts secrets and session ids out of what the HTTP client and the SDK log, and drops reports of late answers."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import anyio
import httpx2

from octoc.plugin import ServerTarget
from octoc.plugin.toolkit import cut_session_ids, redactor
from octoc_transport_mcp.failures import secrets_of

_LOGGERS = ("httpx2", "mcp.client.streamable_http")


@contextlib.contextmanager
def quiet_addresses(target: ServerTarget) -> Iterator[None]:
    """Until the block ends, keep the target's secrets and full session ids out of these log records.

    An answer that arrives after its call was cancelled has no reader, which the SDK logs with a traceback: not kept.
    """
    without_secrets = redactor(secrets_of(target))

    def redacted(text: str) -> str:
        return cut_session_ids(without_secrets(text))

    def hide(record: logging.LogRecord) -> bool:
        if record.exc_info and isinstance(record.exc_info[1], anyio.BrokenResourceError):
            return False
        record.msg = redacted(str(record.msg))
        if isinstance(record.args, tuple):
            shown = (str, httpx2.URL)
            record.args = tuple(redacted(str(one)) if isinstance(one, shown) else one for one in record.args)
        return True

    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(hide)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(hide)
