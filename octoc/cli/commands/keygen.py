"""`octoc keygen FILE`: a key pair that signs bundles."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from octoc.trust.keys import SigningKey


@click.command
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--trust",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Add the public key to this trust file, which is made if missing. Default: print a trust file.",
)
@click.option("--comment", default="", metavar="TEXT", help="Say in the trust file what the key is for.")
def command(file: Path, trust: Path | None, comment: str) -> int:
    """Make a key that signs bundles.

    octoc writes the private key to FILE, which only your user may read, and never prints it or overwrites a file. The
    public key goes into a trust file, which anyone may read.
    """
    from octoc.cli.failures import UserError, write_errors
    from octoc.trust.keys import new_key
    from octoc.trust.trust_file import with_key
    from octoc.whole_files import write_whole

    key = new_key()
    text = _text_with(trust, key, comment) if trust is not None else with_key(None, key.public, comment)
    _write_private(file, key)
    if trust is None:
        click.echo(text, nl=False)
    else:
        try:
            with write_errors(trust):
                write_whole(trust, text.encode())
        except UserError:
            file.unlink()  # a key that nothing trusts
            raise
    where = "" if trust is None else f", and added it to {trust}"
    click.echo(f"made key {key.id}: its private part is in {file}{where}", err=True)
    click.echo(f"keep {file} secret and out of the repository; who has it can sign bundles", err=True)
    return 0


def _text_with(trust: Path, key: SigningKey, comment: str) -> str:
    from octoc.bundle.refusal import BundleFileError
    from octoc.cli.failures import FindingsError
    from octoc.trust.trust_file import read_trust_file, with_key

    if not trust.exists():
        return with_key(None, key.public, comment)
    try:
        read_trust_file(trust)
    except BundleFileError as refused:
        raise FindingsError([refused.diagnostic()]) from None
    return with_key(trust.read_bytes(), key.public, comment)


def _write_private(file: Path, key: SigningKey) -> None:
    from octoc.cli.failures import UserError, write_errors
    from octoc.whole_files import PRIVATE

    with write_errors(file):
        try:
            handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE)
        except FileExistsError:
            help_ = "name another file, or move this one away"
            raise UserError(f"`{file}` exists, and octoc overwrites no key", help_) from None
        with os.fdopen(handle, "wb") as out:
            out.write(key.pem())
