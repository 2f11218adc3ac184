"""Signs what `octoc build` built."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from octoc.cli.failures import UserError, write_errors
from octoc.diagnostics.rule import Severity
from octoc.small_files import UnreadableFileError, small_bytes
from octoc.trust.keys import KeyFormatError, SigningKey, read_key
from octoc.trust.signature import (
    MAX_BYTES,
    MAX_REVISION,
    SignatureFormatError,
    Statement,
    read_envelope,
    read_statement,
    signature_file,
    signature_path,
    text_of,
)
from octoc.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from octoc.compiler.workspace.build import BuildOutcome

_KEYGEN = "`octoc keygen FILE` makes a key"
_EXPIRES = "90d"
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


@attrs.frozen(kw_only=True)
class Signing:
    """How a bundle is to be signed."""

    key: SigningKey = attrs.field(repr=False)
    revision: int
    expires: str

    def write(self, outcome: BuildOutcome) -> Statement | None:
        """Write the signature beside the bundle, and return what it says; None if the build has errors.

        Raises: UserError when the revision does not grow, or the file cannot be written.
        """
        if outcome.bundle is None or (outcome.worst or Severity.INFO) >= Severity.ERROR:
            return None
        statement = Statement(
            name=outcome.name,
            sha256=outcome.digest,
            size=outcome.size,
            revision=self.revision,
            expires=self.expires,
            key=self.key.id,
        )
        path = signature_path(outcome.bundle)
        _check_growth(path, statement)
        with write_errors(path):
            write_whole(path, signature_file(statement, self.key.sign))
        return statement


def signing_of(
    key: str, revision: int | None, expires: str | None, *, locked: bool, bundle: Callable[[], Path | None]
) -> Signing:
    """Return what `--sign` and the options that belong to it mean. Raises: click.UsageError, UserError.

    `bundle` returns where the bundle will be, if that is known: its old signature has the latest revision.
    """
    if locked:
        raise click.UsageError("--locked writes nothing, so there is nothing to --sign")
    if revision is None:
        path = bundle()
        older = None if path is None else _older(signature_path(path))
        after = (
            "" if older is None else f"; after revision {older.revision} of `{older.name}` the next is {_next(older)}"
        )
        raise click.UsageError(
            f"--sign needs --revision: a number that grows with each signed build, such as that of the CI run{after}"
        )
    if revision > MAX_REVISION:
        raise click.UsageError(f"--revision is {MAX_REVISION} at most")
    return Signing(key=_key(key), revision=revision, expires=_expiry(expires or _EXPIRES))


def stale_signature(bundle: Path, digest: str) -> str | None:
    """Return a warning when the signature beside a bundle is of other bytes, with the command that signs them."""
    path = signature_path(bundle)
    older = _older(path)
    if older is None or older.sha256 == digest:
        return None
    command = f"octoc build --sign KEY --revision {_next(older)}"
    return f"`{path.name}` signs an earlier bundle (revision {older.revision}), not this one: run `{command}`"


def _next(older: Statement) -> int:
    return min(older.revision + 1, MAX_REVISION)


def _older(path: Path) -> Statement | None:
    """Return what a signature file says, without a check of its key; None if it cannot be read."""
    try:
        return read_statement(read_envelope(small_bytes(str(path), MAX_BYTES)).payload)
    except (OSError, UnreadableFileError, SignatureFormatError):
        return None


def _key(named: str) -> SigningKey:
    scheme, _, variable = named.partition(":")
    source = f"variable `{variable}`" if scheme == "env" else f"`{named}`"
    try:
        pem = os.environ[variable].encode() if scheme == "env" else small_bytes(named, MAX_BYTES)
        key = read_key(pem)
    except KeyError:
        raise UserError(f"the environment has no {source}", "set it to the text of a private key") from None
    except FileNotFoundError:
        raise UserError(f"there is no private key {source}", _KEYGEN) from None
    except (UnreadableFileError, KeyFormatError) as error:
        raise UserError(f"the private key in {source} cannot be used: {error}", _KEYGEN) from None
    if scheme != "env" and Path(named).stat().st_mode & 0o077:
        click.echo(f"warning: other users may read the private key `{named}`: run `chmod 600` on it", err=True)
    return key


def _expiry(text: str) -> str:
    match = re.fullmatch(r"([1-9][0-9]*)([hdw])", text)
    if match is None:
        raise click.UsageError(f"--expires `{text}`: expected a number and `h`, `d` or `w`, such as `90d`")
    try:
        return text_of(datetime.now(UTC) + timedelta(**{_UNITS[match[2]]: int(match[1])}))
    except (OverflowError, ValueError):
        raise click.UsageError(f"--expires `{text}` is too far in the future") from None


def _check_growth(path: Path, statement: Statement) -> None:
    """Refuse a revision that an older signature has, unless it is of the same bundle."""
    older = _older(path)
    if older is None:
        return
    is_same = older.sha256 == statement.sha256
    if older.name == statement.name and statement.revision < older.revision + (not is_same):
        raise UserError(
            f"the bundle is not signed: `{path.name}` has revision {older.revision} already, "
            f"and `--revision {statement.revision}` is not higher",
            f"use `--revision {older.revision + 1}` or a higher one",
        )
