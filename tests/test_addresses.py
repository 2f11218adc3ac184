"""Which hosts are this machine's own, and what of a URL may be shown."""

from __future__ import annotations

import pytest

from octoc.addresses import is_loopback, origin


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.10", "::1", "[::1]"])
def test_this_machine_is_known_by_every_name(host: str) -> None:
    """The name of this machine in any case, and its addresses, are loopback."""
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "localhost.example", "127.0.0.1.example", "::", "10.0.0.1", "${HOST}"])
def test_any_other_host_is_elsewhere(host: str) -> None:
    """A name that begins like this machine's, and every other address, is not loopback."""
    assert not is_loopback(host)


@pytest.mark.parametrize(
    "url,expected",
    [
        ("https://me:pw@host.example/s3cr3t?key=1", "https://host.example"),
        ("http://[::1]:8080/mcp", "http://[::1]:8080"),
        ("", "://"),
    ],
)
def test_an_origin_shows_no_credential(url: str, expected: str) -> None:
    """The user, path and query of a URL are left out."""
    assert origin(url) == expected
