"""The cause of a failed connection in a few words, and `Retry-After` as seconds."""

from __future__ import annotations

import datetime as dt
import errno
import os
import socket
import ssl
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.network_errors import reason_of, retry_after_s

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@given(st.integers(0, 10**9))
def test_a_time_to_wait_is_seconds_or_a_date(seconds: int) -> None:
    """Both forms of Retry-After give the same seconds, a day at most."""
    seconds %= 10**7
    then = format_datetime(NOW + dt.timedelta(seconds=seconds), usegmt=True)
    assert retry_after_s(str(seconds)) == retry_after_s(then, NOW) == float(min(seconds, 86_400))


@pytest.mark.parametrize("header", [None, "", "soon", "-5", "1.5", "Fri, 99 Foo 2026"])
def test_what_is_no_time_to_wait_is_none(header: str | None) -> None:
    """A header that is neither seconds nor a date is as if it were not there."""
    assert retry_after_s(header) is None


def test_a_time_without_a_zone_is_utc_and_one_that_has_passed_is_now() -> None:
    """A date with the zone `-0000` is read as UTC, and a wait is never negative."""
    assert retry_after_s("Thu, 01 Jan 2026 00:00:30 -0000", NOW) == 30.0
    assert retry_after_s("Wed, 31 Dec 2025 00:00:00 GMT", NOW) == 0.0


@given(st.text())
def test_no_header_breaks_the_time_to_wait(header: str) -> None:
    """Whatever the header says, the answer is None or a number of seconds that is not negative."""
    wait = retry_after_s(header, NOW)
    assert wait is None or wait >= 0


def _untrusted() -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "verify failed")
    error.verify_message = "self-signed certificate"
    return error


@pytest.mark.parametrize(
    "root,expected",
    [
        (_untrusted(), "its certificate is not trusted: self-signed certificate"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "name or service not known"),
        (OSError(errno.ECONNREFUSED, "http://me:pw@h"), os.strerror(errno.ECONNREFUSED).lower()),
        (ValueError(), "the connection failed"),
    ],
)
def test_the_root_of_a_failure_is_its_reason(root: Exception, expected: str) -> None:
    """The cause is found inside groups and below other exceptions, without the text that may quote an address."""
    outer = ConnectionError()
    outer.__cause__ = ExceptionGroup("", [root])
    outer.__cause__.__context__ = outer  # a chain that ends in itself
    assert reason_of(outer) == expected
