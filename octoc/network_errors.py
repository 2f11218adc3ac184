"""What a failed connection or a refusal over HTTP says: its cause in a few words, and how long to wait."""

from __future__ import annotations

import datetime as dt
import os
import socket
import ssl
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from octoc.plain_text import words_of
from octoc.results import bounded_wait


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what caused it, down to the root; of a group its first member."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        if isinstance(current, BaseExceptionGroup):
            current = current.exceptions[0]
        else:
            current = current.__cause__ or current.__context__


def reason_of(error: BaseException) -> str:
    """Return the root of a failed connection in a few words."""
    chain = list(causes_of(error))
    for cause in chain:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return f"the TLS handshake failed: {(cause.reason or 'no reason').replace('_', ' ').lower()}"
    for cause in reversed(chain):
        if isinstance(cause, socket.gaierror):
            return str(cause.strerror).lower()
        if isinstance(cause, OSError) and cause.errno:  # its own text repeats the address
            return os.strerror(cause.errno).lower()
    return words_of(error) or "the connection failed"


def retry_after_s(header: str | None, now: dt.datetime | None = None) -> float | None:
    """Return how many seconds a server asks to wait in `Retry-After`, bounded; None where it does not say it.

    Source: RFC 9110, 10.2.3: seconds or an HTTP date. What is neither, or negative, is nothing.
    """
    if header is None:
        return None
    if header.isascii() and header.isdigit():
        return bounded_wait(float(header[:9]))
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=dt.UTC)
    return bounded_wait((when - (now or dt.datetime.now(dt.UTC))).total_seconds())
