"""`octoc tap`: adds taps to octoc.toml, moves those from git to newer commits, fetches and lists them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.fetched_taps import tap_errors
from octoc.cli.options import format_options, workspace_option

if TYPE_CHECKING:
    from octoc.compiler.taps.update import FetchedTap

_SHORT = 12


@click.group
def command() -> None:
    """Add, update, fetch and list taps.

    A tap from git is fetched by the system's git into `$XDG_CACHE_HOME/octoc/taps`, a folder per commit, and used from
    there without a network. No hook, filter or submodule of the repository runs. octoc.lock has the commit.
    """


@command.command
@click.argument("name")
@click.argument("source", required=False)
@click.option("--rev", default="", metavar="REV", help="A branch, a tag, a commit or a range such as `>=1.2,<2`.")
@click.option("--path", "inside", default="", metavar="FOLDER", help="The tap's folder in the repository.")
@workspace_option
def add(name: str, source: str | None, *, rev: str, inside: str, workspace: Path | None) -> int:
    """Add the tap NAME to octoc.toml, after all others.

    SOURCE is an address of git, or a folder. Without it `owner/tap` is `https://github.com/owner/octomind-tap`, as for
    Octomind. A tap from git is fetched first, and octoc.toml is changed only if that succeeds.
    """
    from octoc.cli.progress import ProgressLine
    from octoc.compiler.model.settings import TapRef
    from octoc.compiler.taps.add import add_tap
    from octoc.diagnostics.model import Place

    root = _workspace_with_file(workspace)
    given = _source_of(name, source, root, is_git=bool(rev or inside))
    tap = TapRef(name=name, rev=rev, place=Place(file="octoc.toml"), **(given | ({"path": inside} if inside else {})))
    with tap_errors(), ProgressLine() as progress:
        progress(f"fetching tap `{name}`", 0, 1)
        fetched = add_tap(root, tap)
    click.echo(f"added tap `{name}`" + (f" at commit {fetched.commit[:_SHORT]}" if fetched is not None else ""))
    click.echo("run `octoc build` to lock it", err=True)
    return 0


@command.command
@click.argument("names", nargs=-1, metavar="[NAME]...")
@workspace_option
def update(names: tuple[str, ...], *, workspace: Path | None) -> int:
    """Move each tap NAME, or all taps from git, to the commit that its `rev` names now.

    octoc.lock gets the new commits; `octoc build` completes it.
    """
    from octoc.cli.progress import ProgressLine
    from octoc.compiler.taps.update import update_taps

    root = _workspace_with_file(workspace)
    with tap_errors(), ProgressLine() as progress:
        taps = update_taps(root, names, progress=progress)
    if not taps:
        click.echo("octoc.toml has no tap from git", err=True)
    for tap in taps:
        click.echo(_moved(tap))
    if any(tap.commit != tap.before for tap in taps):
        click.echo("run `octoc build`, and review what changes in octoc.lock", err=True)
    return 0


@command.command
@workspace_option
def fetch(*, workspace: Path | None) -> int:
    """Fetch each tap from git whose commit is not on this machine.

    octoc.lock says which commit; only a tap that it does not have is looked up by its `rev`. `octoc build` and
    `octoc pin` do the same by themselves, `octoc check` uses no network.
    """
    from octoc.cli.progress import ProgressLine
    from octoc.compiler.taps.update import fetch_taps

    root = _workspace_with_file(workspace)
    with tap_errors(), ProgressLine() as progress:
        taps = fetch_taps(root, progress=progress)
    if not taps:
        click.echo("octoc.toml has no tap from git", err=True)
    for tap in taps:
        click.echo(f"{tap.name}: {'fetched' if tap.was_fetched else 'has'} commit {tap.commit[:_SHORT]}")
    return 0


@command.command("list")
@workspace_option
@format_options("text", "json")
def list_(*, workspace: Path | None, output_format: str) -> int:
    """List the taps of octoc.toml in order of precedence: source, revision, commit, and if it is on this machine."""
    import json

    from octoc.compiler.taps.update import tap_refs
    from octoc.compiler.workspace.paths import file_at

    root = _workspace_with_file(workspace)
    taps = tap_refs(root)
    here = [
        Path(tap.folder).is_dir() if tap.folder else not tap.git and file_at(root, tap.path).is_dir() for tap in taps
    ]
    if output_format == "json":
        keys = ("name", "git", "rev", "path", "commit")
        fields = [
            {**{key: getattr(tap, key) for key in keys}, "present": present}
            for tap, present in zip(taps, here, strict=True)
        ]
        click.echo(json.dumps(fields, indent=2))
        return 0
    from octoc.cli.tables import print_table

    rows = [
        (tap.name, tap.git or tap.path, tap.rev, tap.commit[:_SHORT], "yes" if present else "no")
        for tap, present in zip(taps, here, strict=True)
    ]
    print_table(f"{len(rows)} taps", ("name", "source", "rev", "commit", "here"), rows)
    return 0


def _moved(tap: FetchedTap) -> str:
    if tap.before == tap.commit:
        return f"{tap.name}: already at commit {tap.commit[:_SHORT]}"
    was = f", was {tap.before[:_SHORT]}" if tap.before else ""
    return f"{tap.name}: commit {tap.commit[:_SHORT]}{was}"


def _source_of(name: str, source: str | None, root: Path, *, is_git: bool) -> dict[str, str]:
    """Return `git` or `path` of a tap to add."""
    from octoc.cli.failures import UserError
    from octoc.compiler.taps.addresses import address_trouble
    from octoc.compiler.workspace.paths import file_at
    from octoc.masking import mask_secrets

    if source is None:
        owner, _, tap = name.partition("/")
        if not tap:
            raise UserError(f"`{name}` names no repository", "add an address of git or a folder, or write `owner/tap`")
        return {"git": f"https://github.com/{owner}/octomind-{tap}"}
    if not is_git and file_at(root, source).is_dir() and not _is_repository(file_at(root, source)):
        return {"path": source}
    trouble = address_trouble(source)
    if trouble:
        shown = mask_secrets(source)
        raise UserError(f"tap `{name}` cannot come from `{shown}`: {trouble}", "name a folder, or an address of git")
    return {"git": source}


def _is_repository(folder: Path) -> bool:
    """Tell whether a folder is a bare repository: its files are not those of a tap."""
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()


def _workspace_with_file(named: Path | None) -> Path:
    from octoc.cli.failures import UnavailableError
    from octoc.cli.workspace import workspace_root
    from octoc.compiler.workspace.paths import WORKSPACE_FILE

    root = workspace_root(named)
    if not (root / WORKSPACE_FILE).is_file():
        raise UnavailableError(f"there is no `{WORKSPACE_FILE}` to name taps", "run `octoc init`")
    return root
