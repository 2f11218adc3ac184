"""`octoc check --since` and `--baseline`: which of the findings a run reports."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import click

from octoc.cli.failures import UnavailableError, write_errors

if TYPE_CHECKING:
    from octoc.compiler.checkup.paths import CheckedPaths


def refuse_contradictions(*, since: str | None, baseline: Path | None, updates: bool, fixes: bool) -> None:
    """Raise click.UsageError for options of `octoc check` that cannot be combined."""
    if updates and baseline is None:
        raise click.UsageError("--update-baseline needs --baseline FILE")
    if updates and (since is not None or fixes):
        raise click.UsageError("--update-baseline records all findings: it takes no --since, --fix or --diff")


def select_changed(checked: CheckedPaths, since: str | None) -> CheckedPaths:
    """Return what `checked` has in the files that changed since a revision.

    Raises: UnavailableError when git cannot tell.
    """
    if since is None:
        return checked
    from octoc.compiler.checkup.since import changed_files, only_changed
    from octoc.compiler.workspace.git import RevisionError

    try:
        changed = changed_files(checked.base, since)
    except RevisionError as error:
        raise UnavailableError(
            str(error), "name a commit, branch or tag of this repository (a shallow clone has few)"
        ) from None
    return only_changed(checked, changed)


def say_unchanged(everything: CheckedPaths, selected: CheckedPaths, since: str | None) -> None:
    """Say on stderr how many findings `--since` leaves out."""
    hidden = len(everything.diagnostics) - len(selected.diagnostics)
    if hidden:
        click.echo(f"{_findings(hidden)} in files that have not changed since `{since}`", err=True)


def select_new(checked: CheckedPaths, baseline: Path | None) -> CheckedPaths:
    """Return what `checked` has beyond the baseline, and say how many findings the baseline has.

    Raises: UnavailableError when the baseline cannot be read.
    """
    if baseline is None:
        return checked
    from octoc.compiler.checkup.baseline import BaselineError, compare, read_baseline
    from octoc.compiler.read.text import why

    try:
        accepted = read_baseline(baseline)
    except FileNotFoundError:
        raise UnavailableError(
            f"there is no baseline `{baseline}`", "write it: add --update-baseline to this command"
        ) from None
    except (BaselineError, OSError) as error:
        reason = why(error) if isinstance(error, OSError) else str(error)
        raise UnavailableError(
            f"the baseline `{baseline}` cannot be read: {reason}", "write it anew with --update-baseline"
        ) from None
    folder = baseline.absolute().parent
    read = frozenset(path for target, outcome in checked.parts for path in outcome.read if target.covers(path))
    compared = compare(checked.diagnostics, accepted, base=checked.base, folder=folder, read=read)
    if compared.accepted:
        click.echo(f"{_findings(compared.accepted)} in the baseline", err=True)
    if compared.gone:
        click.echo(f"{_findings(compared.gone)} of the baseline no longer found: --update-baseline removes", err=True)
    return attrs.evolve(checked, diagnostics=compared.new)


def update_baseline(checked: CheckedPaths, baseline: Path) -> None:
    """Write all findings of `checked` as the baseline, and say how many. Raises: UserError."""
    from octoc.compiler.checkup.baseline import write_baseline

    with write_errors(baseline):
        write_baseline(baseline.absolute(), checked.diagnostics, checked.base)
    click.echo(f"wrote {_findings(len(checked.diagnostics))} to {baseline}", err=True)


def _findings(count: int) -> str:
    return f"{count} finding{'' if count == 1 else 's'}"


def refuse_nothing(checked: CheckedPaths, *, has_paths: bool) -> None:
    """Raise an UnavailableError if there was no file to check; it names files that look like those of clients."""
    if any((checkup.read and not checkup.is_prose) or checkup.diagnostics for _, checkup in checked.parts):
        return
    raise UnavailableError(
        f"nothing to check {'there' if has_paths else 'here'}: found no `octoc.toml`, `.mcp.json`, agent or tap",
        "run `octoc init` here, or name a file or a folder",
        _near_files(checked),
    )


def _near_files(checked: CheckedPaths) -> list[str]:
    """Return a line for each file that looks like a known one, with the command that checks it."""
    from octoc.compiler.checkup.near_files import near_files
    from octoc.compiler.inputs.registry import FileKinds

    return [
        f"`{one.path}` looks like a file of a client: octoc check {shlex.quote(one.path)} --kind {one.kind}"
        for target, _ in checked.parts
        if target.folder is not None
        for one in near_files(target.folder, FileKinds())
    ]
