"""`octoc verify BUNDLE --trust FILE`: whether a bundle would be opened with this trust file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from octoc.cli.options import format_options

if TYPE_CHECKING:
    from octoc.bundle.refusal import BundleFileError
    from octoc.trust.check import VerifiedBundle


@click.command
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option(
    "--trust", required=True, type=click.Path(path_type=Path), metavar="FILE", help="The trust file with the keys."
)
@format_options("text", "json")
def command(bundle: Path, trust: Path, output_format: str) -> int:
    """Verify the signature of BUNDLE.

    octoc reads the signature from BUNDLE.sig, and remembers no revision. The exit status is 1 if the bundle is refused.
    With --json stdout is one object: ok, and either the signed fields or kind, code, message and help.
    """
    from octoc.bundle.refusal import BundleFileError

    try:
        signed = _verified(bundle, trust)
    except BundleFileError as refused:
        if output_format == "json":
            _print_json(_refusal(refused))
            return 1
        from octoc.cli.failures import FindingsError

        raise FindingsError([refused.diagnostic()]) from None
    said = signed.statement
    if output_format == "json":
        import attrs

        _print_json({"ok": True, "bundle": str(bundle), **attrs.asdict(said)})
    else:
        from octoc.diagnostics.render import escape

        words = f"bundle `{said.name}`, revision {said.revision}, signed by key {said.key}, expires {said.expires}"
        click.echo(f"verified: {escape(str(bundle))} is {escape(words)}")
    return 0


def _verified(bundle: Path, trust: Path) -> VerifiedBundle:
    from octoc.bundle.reader import OpenBundle
    from octoc.trust.check import read_verified

    signed = read_verified(bundle, trust)
    with OpenBundle.of_bytes(signed.data, file=str(bundle)) as opened:
        signed.check_name(opened.bundle.name)
    return signed


def _refusal(refused: BundleFileError) -> dict[str, Any]:
    from octoc.trust.refusal import UntrustedBundleError

    kind = refused.kind if isinstance(refused, UntrustedBundleError) else "bundle"
    return {
        "ok": False,
        "kind": kind,
        "code": refused.rule.code,
        "message": refused.reason,
        "help": refused.help,
    }


def _print_json(found: dict[str, Any]) -> None:
    import json

    click.echo(json.dumps(found, indent=2))
