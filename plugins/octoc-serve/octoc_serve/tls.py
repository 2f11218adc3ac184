"""TLS of the gateway: a certificate and its key from files, reloaded when they change."""

from __future__ import annotations

import contextlib
import logging
import ssl
from pathlib import Path

from octoc_serve.settings import GatewayError

logger = logging.getLogger(__name__)


class Certificate:
    """A certificate with its key, and the TLS context of new connections."""

    def __init__(self, cert: Path, key: Path) -> None:
        """Load both. Raises: GatewayError."""
        self.files = (cert, key)
        self.context = _loaded(cert, key)

    async def renew(self) -> None:
        """Reload both files. If they cannot be used, log that and keep the old certificate."""
        try:
            # Load into another context first: a context that rejects a key has already changed.
            _loaded(*self.files)
            self.context.load_cert_chain(*self.files, password=_no_passphrase)
        except (GatewayError, OSError) as refused:
            logger.error("the certificate stays as it was: %s", refused)  # noqa: TRY400  # it says all there is to say


def certificate_of(cert: Path | None, key: Path | None) -> Certificate | None:
    """Return the certificate, None without one. Raises: GatewayError if one file is missing or unusable."""
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        there, missing = ("--tls-key", "--tls-cert") if cert is None else ("--tls-cert", "--tls-key")
        raise GatewayError(f"`{there}` is given without `{missing}`", "TLS needs both")
    return Certificate(cert, key)


class _EncryptedError(Exception):
    """The key needs a passphrase."""


def _no_passphrase() -> str:
    # Otherwise OpenSSL would ask on the terminal and block.
    raise _EncryptedError


def _loaded(cert: Path, key: Path) -> ssl.SSLContext:
    for file, what in ((cert, "certificate"), (key, "key")):
        try:
            with file.open("rb") as opened:
                opened.read(1)
        except OSError as error:
            raise GatewayError(
                f"the TLS {what} `{file}` cannot be read: {error.strerror}", "make it a file that this user may read"
            ) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    with contextlib.suppress(NotImplementedError):
        context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(cert, key, password=_no_passphrase)
    except _EncryptedError:
        raise GatewayError(
            f"the TLS key `{key}` is encrypted: expected one without a passphrase",
            "`openssl pkey -in KEY -out PLAIN` decrypts it; keep the file for the gateway's user alone",
        ) from None
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise GatewayError(
                f"the TLS key `{key}` is not the one of certificate `{cert}`", "both have to be of one request"
            ) from None
        raise GatewayError(
            f"`{cert}` and `{key}` are not a certificate and key in PEM form: {error.reason or 'no PEM block in them'}",
            "the certificate comes first in its file, then those that it is signed by",
        ) from None
    return context
