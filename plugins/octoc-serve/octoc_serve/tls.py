"""TLS of the gateway: a certificate and its key from files, taken over again when they change."""

from __future__ import annotations

import contextlib
import logging
import ssl
from pathlib import Path

from octoc_serve.settings import GatewayRefused

logger = logging.getLogger(__name__)


class Certificate:
    """A certificate with its key, and the context that new connections get it from."""

    def __init__(self, cert: Path, key: Path) -> None:
        """Load both. Raises: GatewayRefused."""
        self.files = (cert, key)
        self.context = _loaded(cert, key)

    async def renew(self) -> None:
        """Take both over as they are now; files that cannot be used are told, and the old certificate stays."""
        try:
            # Aside first: a context that has refused a key is not the one it was.
            _loaded(*self.files)
            self.context.load_cert_chain(*self.files, password=_no_passphrase)
        except (GatewayRefused, OSError) as refused:
            logger.error("the certificate stays as it was: %s", refused)  # noqa: TRY400  # it says all there is to say


def certificate_of(cert: Path | None, key: Path | None) -> Certificate | None:
    """Return the certificate to serve with, None for none. Raises: GatewayRefused when there is only half of it."""
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        there, missing = ("--tls-key", "--tls-cert") if cert is None else ("--tls-cert", "--tls-key")
        raise GatewayRefused(f"`{there}` is given without `{missing}`", "TLS needs both")
    return Certificate(cert, key)


class _EncryptedError(Exception):
    """The key wants a passphrase."""


def _no_passphrase() -> str:
    # Without it OpenSSL would ask on the terminal, and wait.
    raise _EncryptedError


def _loaded(cert: Path, key: Path) -> ssl.SSLContext:
    for file, what in ((cert, "certificate"), (key, "key")):
        try:
            with file.open("rb") as opened:
                opened.read(1)
        except OSError as error:
            raise GatewayRefused(
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
        raise GatewayRefused(
            f"the TLS key `{key}` is encrypted: expected one without a passphrase",
            "`openssl pkey -in KEY -out PLAIN` decrypts it; keep the file for the gateway's user alone",
        ) from None
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise GatewayRefused(
                f"the TLS key `{key}` is not the one of certificate `{cert}`", "both have to be of one request"
            ) from None
        raise GatewayRefused(
            f"`{cert}` and `{key}` are no certificate and key in PEM form: {error.reason or 'no PEM block in them'}",
            "the certificate comes first in its file, then those that it is signed by",
        ) from None
    return context
