"""TLS of the gateway: what it speaks, which files it refuses, and how it takes a new certificate."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import ipaddress
import signal
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from octoc.cli import root as cli

Ask = Callable[..., tuple[int, dict[str, str], str]]


def written(folder: Path, name: str = "gateway", passphrase: bytes | None = None) -> tuple[Path, Path]:
    """Write a certificate of this machine, signed by itself, and its key; return both paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encryption = (
        serialization.NoEncryption() if passphrase is None else serialization.BestAvailableEncryption(passphrase)
    )
    files = folder / f"{name}.pem", folder / f"{name}.key"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption))
    return files


def subject_of(url: str, trusted: Path) -> str:
    """Return the common name of the certificate that is shown at an address."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    context = ssl.create_default_context(cafile=str(trusted))
    with (
        socket.create_connection((parts.hostname, parts.port or 0), timeout=60) as plain,
        context.wrap_socket(plain, server_hostname=parts.hostname) as shown,
    ):
        subject: Any = (shown.getpeercert() or {})["subject"]
        return str(subject[0][0][1])


def test_it_speaks_tls_and_nothing_older_than_1_2(
    serve: Callable[..., Any], ask: Ask, initialize: dict[str, Any], tmp_path: Path
) -> None:
    """Clients that trust the certificate are served; TLS 1.1 and plain HTTP are not."""
    cert, key = written(tmp_path)
    gateway = serve("--tls-cert", str(cert), "--tls-key", str(key))
    assert gateway.url.startswith("https://127.0.0.1:")
    assert ask(gateway.url, initialize, tls=ssl.create_default_context(cafile=str(cert)))[0] == 200
    port = urlsplit(gateway.url).port or 0
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cert)
    context.set_ciphers("ALL:@SECLEVEL=0")  # so that the client itself would speak it
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", port), timeout=60) as plain, pytest.raises((ssl.SSLError, OSError)):
        context.wrap_socket(plain, server_hostname="127.0.0.1")
    with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"200" not in plain.recv(100)
    assert ask(f"{gateway.base}/healthz", tls=ssl.create_default_context(cafile=str(cert)))[0] == 200


def test_a_new_certificate_is_taken_over(serve: Callable[..., Any], tmp_path: Path) -> None:
    """New connections get the new one; files that do not belong together leave the old one, with a line."""
    cert, key = written(tmp_path, "first")
    second, second_key = written(tmp_path, "second")
    gateway = serve("--tls-cert", str(cert), "--tls-key", str(key))
    assert subject_of(gateway.url, cert) == "first"
    old = tmp_path / "old.pem"
    old.write_bytes(cert.read_bytes())
    cert.write_bytes(second.read_bytes())
    gateway.process.send_signal(signal.SIGHUP)

    async def told() -> None:
        for _ in range(1200):
            if any("is not the one of certificate" in line for line in gateway.log):
                return
            await asyncio.sleep(0.05)

    asyncio.run(told())
    assert any("the certificate stays as it was" in line for line in gateway.log)
    assert subject_of(gateway.url, old) == "first"
    key.write_bytes(second_key.read_bytes())
    gateway.process.send_signal(signal.SIGHUP)

    async def taken() -> str:
        for _ in range(1200):
            try:
                return await asyncio.to_thread(subject_of, gateway.url, second)
            except ssl.SSLError:
                await asyncio.sleep(0.05)
        return "the old one"

    assert asyncio.run(taken()) == "second"


def test_files_that_are_no_certificate_and_key_are_told(root: Path, tmp_path: Path) -> None:
    """Each of them is refused before anything is served, with what was expected."""
    cert, key = written(tmp_path, "one")
    _, other = written(tmp_path, "other")
    _, locked = written(tmp_path, "locked", passphrase=b"secret")
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("no certificate", encoding="utf-8")
    cases: list[tuple[list[str | None], str]] = [
        ([str(cert), None], "`--tls-cert` is given without `--tls-key`"),
        ([None, str(key)], "`--tls-key` is given without `--tls-cert`"),
        ([str(tmp_path / "absent.pem"), str(key)], "absent.pem` cannot be read: No such file"),
        ([str(cert), str(tmp_path / "absent.key")], "absent.key` cannot be read: No such file"),
        ([str(cert), str(tmp_path)], "is a directory"),
        ([str(garbage), str(key)], "not a certificate and key in PEM form"),
        ([str(cert), str(garbage)], "not a certificate and key in PEM form"),
        ([str(key), str(cert)], "not a certificate and key in PEM form"),
        ([str(cert), str(other)], "is not the one of certificate"),
        ([str(cert), str(locked)], "is encrypted: expected one without a passphrase"),
    ]
    for files, said in cases:
        given = [
            word
            for option, file in zip(("--tls-cert", "--tls-key"), files, strict=True)
            if file
            for word in (option, file)
        ]
        words = ["serve", "--workspace", str(root), "--transport", "http", "--port", "0", *given]
        done = CliRunner().invoke(cli, [*words, "--tokens", str(tmp_path / "none.json")])
        assert done.exit_code != 0
        assert said in " ".join(done.output.split()), (files, done.output)
        assert "Traceback" not in done.output


def test_connections_without_a_handshake_keep_nobody_out(
    serve: Callable[..., Any], ask: Ask, initialize: dict[str, Any], tmp_path: Path
) -> None:
    """However many connections begin no TLS, or half of it, clients and questions of health are answered."""
    cert, key = written(tmp_path)
    gateway = serve("--tls-cert", str(cert), "--tls-key", str(key), "--max-connections", "8")
    trusting = ssl.create_default_context(cafile=str(cert))
    address = ("127.0.0.1", urlsplit(gateway.url).port or 0)
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(socket.create_connection(address, timeout=60)) for _ in range(60)]
        for half in opened[1::2]:
            with contextlib.suppress(OSError):
                half.sendall(b"\x16\x03\x01\x02")
        assert opened[0].recv(1) == b""
        assert ask(gateway.url, initialize, tls=trusting)[0] == 200
        assert ask(f"{gateway.base}/healthz", tls=trusting)[0] == 200
        assert ask(f"{gateway.base}/readyz", tls=trusting)[0] == 200


def test_a_handshake_that_never_ends_is_closed(serve: Callable[..., Any], tmp_path: Path) -> None:
    """A handshake has as long as a request."""
    cert, key = written(tmp_path)
    gateway = serve("--tls-cert", str(cert), "--tls-key", str(key), "--request-timeout", "1")
    address = ("127.0.0.1", urlsplit(gateway.url).port or 0)
    with socket.create_connection(address, timeout=60) as silent, contextlib.suppress(ConnectionError):
        assert silent.recv(1) == b""
