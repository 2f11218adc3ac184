"""Hosts and origins: whether an address is this machine's own, and what of a URL may be shown."""

from __future__ import annotations

import functools
import ipaddress
import re
from urllib.parse import urlsplit


@functools.lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Tell whether a host's name or address, an IPv6 address with or without brackets, is this machine's own."""
    host = host.strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


_PRIVATE_ENDINGS = (
    *(".internal", ".local", ".localdomain", ".lan", ".intranet", ".corp", ".home", ".home.arpa", ".svc"),
    ".ts.net",
)
_SHARED_RANGE = ipaddress.ip_network("100.64.0.0/10")
"""Addresses of RFC 6598, which mesh networks such as Tailscale give their machines."""

_HOST_NAME = re.compile(r"[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?")


def is_private_network(host: str) -> bool:
    """Tell whether a host's name or address is one of a private network: no dot, a private ending or address range."""
    host = host.strip("[]").lower().rstrip(".")
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _HOST_NAME.fullmatch(host) is not None and ("." not in host or host.endswith(_PRIVATE_ENDINGS))
    return address.is_private or address in _SHARED_RANGE


# A regular expression, since urllib raises for a malformed host, which is not a loopback host either.
_REFERENCE = re.compile(r"\$+\{[^{}]*\}")
_PLAIN_HTTP = re.compile(r"http://(?:[^/?#@]*@)?(?P<host>\[[^\]/]*\]|(?:\$\{[^{}]*\}|[^:/?#])*)", re.IGNORECASE)


def plain_http_host(url: str) -> str | None:
    """Return the host of a URL of plain http on another machine, without references; None of any other URL.

    A host that references alone make is unknown. A doubled `$` is how docker compose writes one.
    """
    plain = _PLAIN_HTTP.match(url)
    if plain is None or is_loopback(plain["host"]):
        return None
    known = _REFERENCE.sub("", plain["host"]).strip("-_.")
    return known or (None if _REFERENCE.search(plain["host"]) else "")


def origin(url: str) -> str:
    """Return scheme, host and port of a URL: its user, path and query may hold a credential."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}{f':{parts.port}' if parts.port else ''}"
