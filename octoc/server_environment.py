"""What a stdio server inherits of the environment that octoc runs in, beside what its own definition sets."""

from __future__ import annotations

import re
from collections.abc import Mapping

USUAL = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TMPDIR"),
    *("LANG", "LANGUAGE", "TZ"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE"),
    *("SYSTEMROOT", "TEMP", "USERNAME", "USERPROFILE"),
)
"""What the MCP SDKs pass on, on POSIX and Windows, and what programs need for the network, certificates and times."""
LOCALE_PREFIX = "LC_"
_PASSWORD = re.compile(r"(?:\A|//)[^/@\s]*:[^/@\s]+@")


def is_usual(name: str) -> bool:
    """Tell whether every stdio server inherits a variable of this name, if it is set."""
    return name in USUAL or name.startswith(LOCALE_PREFIX)


def usual_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that every stdio server inherits.

    A proxy's address with a password and a shell function are left out: `inherit_env` names what a server is to have
    all the same.
    """
    return {
        name: value
        for name, value in environ.items()
        if is_usual(name) and not value.startswith("()") and not _PASSWORD.search(value)
    }
