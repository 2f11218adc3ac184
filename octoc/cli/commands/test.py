"""`octoc test`: the workspace's messages and queries against its bundle."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from octoc.cli.options import (
    allow_degraded_option,
    completes,
    format_options,
    trust_option,
    verbose_option,
    workspace_option,
)
from octoc.lists import name_list

if TYPE_CHECKING:
    from octoc.cli.skill_evals import EvalRun
    from octoc.evaluation.report import Report


@click.command
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="[FILE]...")
@workspace_option
@click.option("--bundle", type=click.Path(path_type=Path), metavar="FILE", help="Test this bundle. Default: build one.")
@trust_option
@allow_degraded_option
@click.option("--record", is_flag=True, help="Write the results to routing.lock and evals.lock, for review.")
@click.option("-k", "only", metavar="TEXT", help="Only fixtures with TEXT in their message, expectation or note.")
@click.option("--agent", metavar="NAME", shell_complete=completes("agents"), help="Only fixtures of this agent.")
@click.option(
    "--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Also write JUnit XML to FILE."
)
@format_options("text", "json")
@verbose_option
def command(
    files: tuple[Path, ...],
    workspace: Path | None,
    bundle: Path | None,
    trust: Path | None,
    *,
    allow_degraded: bool,
    record: bool,
    only: str | None,
    agent: str | None,
    junit: Path | None,
    output_format: str,
    verbose: bool,
) -> int:
    """Run fixtures and skills' trigger evals, or those of each FILE.

    octoc routes each message and runs each query as the runtime does, without starting a server. The test fails if a
    result is worse than the recorded one (routing.lock), or if a share is outside a limit of octoc.toml. Limits apply
    only when all fixtures run.

    Trigger evals (`evals/*.json` beside a SKILL.md) are decided without a model, by the names and descriptions of
    skills, and compared with evals.lock. A folder of skills needs no octoc.toml.
    """
    from octoc.cli.fixture_run import fixture_folder
    from octoc.cli.workspace import log_to_stderr

    log_to_stderr(verbose=verbose)
    if record and (only or agent or files):
        raise click.UsageError("--record writes all results: omit FILE, -k and --agent")
    evals = tuple(file for file in files if file.suffix == ".json")
    fixtures = tuple(file for file in files if file not in evals)
    root = fixture_folder(workspace, bundle, files)
    run = None
    if bundle is None and agent is None and (evals or not files):
        run = _run_evals(root, evals, record=record, only=only)
    options = _Options(
        bundle=bundle,
        trust=trust,
        allow_degraded=allow_degraded,
        record=record,
        only=only,
        agent=agent,
        verbose=verbose,
    )
    tested = None if evals and not fixtures else _run_fixtures(root, fixtures, options, may_be_empty=run is not None)
    if junit is not None and tested is not None:
        from octoc.cli.failures import write_errors
        from octoc.evaluation.junit import render_junit

        report = tested.report
        with write_errors(junit):
            junit.write_text(render_junit(report.results, report.regressions, report.floors), encoding="utf-8")
    if output_format == "json":
        _print_json(tested, run)
    else:
        _print_text(tested, run, verbose=verbose)
    return int((tested is not None and tested.failed) or (run is not None and run.failed))


@attrs.frozen(kw_only=True)
class _Options:
    bundle: Path | None
    trust: Path | None
    allow_degraded: bool
    record: bool
    only: str | None
    agent: str | None
    verbose: bool


@attrs.frozen(kw_only=True)
class _Tested:
    """The report of the fixtures. `is_unsound`: a fixture has an error."""

    report: Report
    is_unsound: bool

    @property
    def failed(self) -> bool:
        return self.report.failed or self.is_unsound


def _run_fixtures(root: Path, files: tuple[Path, ...], options: _Options, *, may_be_empty: bool) -> _Tested | None:
    """Run the fixtures of the workspace, or of `files`; None without any, if that `may_be_empty`."""
    from octoc.cli.failures import UnavailableError
    from octoc.cli.fixture_run import built_bundle, bundle_names, evaluate_bundle
    from octoc.cli.recorded_results import report_against
    from octoc.cli.report import print_diagnostics
    from octoc.compiler.workspace.fixtures import load_fixtures, look_up
    from octoc.diagnostics.rule import Severity

    is_part = bool(options.only or options.agent or files)
    loaded = load_fixtures(root, files)
    is_unsound = any(found.severity >= Severity.ERROR for found in loaded.diagnostics)
    if may_be_empty and not is_unsound and not any(source.messages or source.queries for source in loaded.sources):
        return None
    if loaded.is_empty:
        where = [str(file) for file in files] or loaded.settings.routing.fixtures
        raise UnavailableError(
            f"there is no fixture in {name_list(where)}",
            'write `routing/first.toml`, with `[[message]]`, `text = "what a user says"` and `expect = "capability"` '
            'or evals of skills: `evals/trigger_eval.json`, with `[{"query": "merge PDFs", "should_trigger": true}]`',
        )
    bundle = options.bundle
    target = built_bundle(root, allow_degraded=options.allow_degraded) if bundle is None else bundle
    known = look_up(loaded, bundle_names(target, options.trust))
    is_unsound = any(found.severity >= Severity.ERROR for found in loaded.diagnostics)
    if loaded.diagnostics:
        print_diagnostics(loaded.diagnostics, root, output_format="full", verbose=False, err=True)
    fixtures = known.only(text=options.only, agent=options.agent)
    if known and not fixtures:
        raise UnavailableError("no fixture is left to run", "-k and --agent exclude all of them")
    results = evaluate_bundle(target, root, fixtures, options.trust)
    from octoc.evaluation.recorded import LOCK_NAME

    limits = {} if is_part else loaded.limits
    report = report_against(root / LOCK_NAME, results, record=options.record, is_part=is_part, limits=limits)
    return _Tested(report=report, is_unsound=is_unsound)


def _print_json(tested: _Tested | None, run: EvalRun | None) -> None:
    import json

    from octoc.evaluation.report import as_object

    found: dict[str, Any] = {} if tested is None else as_object(tested.report)
    if run is not None:
        from octoc.cli.skill_evals import as_values

        found |= {"failed": found.get("failed", False) or run.failed, "skill_evals": as_values(run)}
    click.echo(json.dumps(found, indent=2))


def _print_text(tested: _Tested | None, run: EvalRun | None, *, verbose: bool) -> None:
    if tested is not None:
        from octoc.cli.evaluation_report import print_text

        print_text(tested.report, verbose=verbose)
    if run is not None:
        from octoc.cli.skill_evals import print_evals

        if tested is not None:
            click.echo()
        print_evals(run, verbose=verbose)


def _run_evals(root: Path, files: tuple[Path, ...], *, record: bool, only: str | None) -> EvalRun | None:
    """Run the evals below `root`, or in `files`, and print what is wrong with them; None if there are none."""
    from octoc.cli.report import print_diagnostics
    from octoc.cli.skill_evals import run_evals
    from octoc.compiler.workspace.evals import load_evals

    evals = load_evals(root, files)
    if not evals.fixtures and not evals.diagnostics:
        return None
    run = run_evals(evals, root, record=record, only=only)
    if evals.diagnostics:
        print_diagnostics(evals.diagnostics, root, output_format="full", verbose=False, err=True)
    return run
