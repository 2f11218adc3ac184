"""`octoc test`: the workspace's messages and queries against its bundle."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from octoc.cli.options import allow_degraded_option, format_options, verbose_option, workspace_option
from octoc.lists import name_list


@click.command
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="[FILE]...")
@workspace_option
@click.option("--bundle", type=click.Path(path_type=Path), metavar="FILE", help="Test this bundle. Default: build one.")
@allow_degraded_option
@click.option("--record", is_flag=True, help="Write the results to routing.lock, for review.")
@click.option("-k", "only", metavar="TEXT", help="Only fixtures with TEXT in their message, expectation or note.")
@click.option("--agent", metavar="NAME", help="Only fixtures of this agent.")
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Also write JUnit XML to FILE."
)
@format_options("text", "json")
@verbose_option
def command(
    files: tuple[Path, ...],
    workspace: Path | None,
    bundle: Path | None,
    allow_degraded: bool,
    record: bool,
    only: str | None,
    agent: str | None,
    junit: Path | None,
    output_format: str,
    verbose: bool,
) -> int:
    """Run the workspace's fixtures, or those of each FILE.

    octoc routes each message and runs each query as the runtime does, without starting a server. The test fails if a
    result is worse than the recorded one (routing.lock), or if a share is outside a limit of octoc.toml. Limits apply
    only when all fixtures run.
    """
    from octoc.cli.evaluation_report import print_text
    from octoc.cli.failures import UnavailableError, UserError, write_errors
    from octoc.cli.fixture_run import built_bundle, bundle_names, evaluate_bundle, fixture_folder
    from octoc.cli.report import print_diagnostics
    from octoc.cli.workspace import log_to_stderr
    from octoc.diagnostics.rule import Severity

    log_to_stderr(verbose=verbose)
    is_part = bool(only or agent or files)
    if record and is_part:
        raise click.UsageError("--record writes all results: omit FILE, -k and --agent")
    root = fixture_folder(workspace, bundle, files)
    from octoc.compiler.workspace.fixtures import load_fixtures, look_up

    loaded = load_fixtures(root, files)
    if loaded.is_empty:
        where = [str(file) for file in files] or loaded.settings.routing.fixtures
        raise UnavailableError(
            f"there is no fixture in {name_list(where)}",
            'write `routing/first.toml`, with `[[message]]`, `text = "what a user says"` and `expect = "capability"`',
        )
    target = built_bundle(root, allow_degraded=allow_degraded) if bundle is None else bundle
    known = look_up(loaded, bundle_names(target))
    is_unsound = any(found.severity >= Severity.ERROR for found in loaded.diagnostics)
    if loaded.diagnostics:
        print_diagnostics(loaded.diagnostics, root, output_format="full", verbose=False, err=True)
    fixtures = known.only(text=only, agent=agent)
    if known and not fixtures:
        raise UnavailableError("no fixture is left to run", "-k and --agent exclude all of them")
    results = evaluate_bundle(target, root, fixtures)
    from octoc.evaluation.recorded import LOCK_NAME, RecordedError, recorded_text
    from octoc.evaluation.report import as_object, report_of

    limits = {} if is_part else {k: v for k, v in attrs.asdict(loaded.settings.test).items() if v is not None}
    lock = root / LOCK_NAME
    if record:
        from octoc.whole_files import write_whole

        with write_errors(lock):
            write_whole(lock, recorded_text(results).encode())
    try:
        recorded = lock.read_text(encoding="utf-8") if lock.is_file() else None
        report = report_of(results, limits=limits, recorded=recorded, is_part=is_part)
    except (RecordedError, OSError, UnicodeDecodeError) as error:
        raise UserError(f"`{LOCK_NAME}` cannot be compared with: {error}", "run `octoc test --record`") from None
    if junit is not None:
        from octoc.evaluation.junit import render_junit

        with write_errors(junit):
            junit.write_text(render_junit(results, report.regressions, report.floors), encoding="utf-8")
    if output_format == "json":
        import json

        click.echo(json.dumps(as_object(report), indent=2))
    else:
        print_text(report, verbose=verbose)
    if record:
        click.echo(f"recorded: {LOCK_NAME}", err=True)
    return int(report.failed or is_unsound)
