"""Runs the fixtures of `octoc test`: their folder, the bundle to test, and its names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.cli.failures import UnavailableError, UserError

if TYPE_CHECKING:
    from octoc.compiler.resolve.fixtures import FixtureNames
    from octoc.evaluation import Results
    from octoc.routing.fixtures import Fixtures


def fixture_folder(workspace: Path | None, bundle: Path | None, files: Sequence[Path]) -> Path:
    """Return the folder whose fixtures, limits and locks count; a bundle and files need no workspace.

    A folder with skills needs no octoc.toml either.
    """
    from octoc.cli.workspace import workspace_root
    from octoc.compiler.workspace.evals import has_skills

    try:
        return workspace_root(workspace)
    except UnavailableError:
        if workspace is None and bundle is not None and files:
            return Path.cwd()
        folder = (workspace or Path()).absolute()
        if bundle is None and folder.is_dir() and has_skills(folder):
            return folder
        raise


def built_bundle(root: Path, *, allow_degraded: bool = False) -> Path:
    """Return the workspace's bundle as its inputs are now. Raises: UserError when none could be built."""
    from octoc.cli.progress import ProgressLine
    from octoc.cli.report import print_diagnostics
    from octoc.compiler.workspace.build import build
    from octoc.diagnostics.rule import Severity

    with ProgressLine() as progress:
        outcome = build(root, allow_degraded=allow_degraded, progress=progress)
    if outcome.bundle is None:
        print_diagnostics(outcome.diagnostics, root, output_format="full", verbose=False, err=True)
        raise UserError("the build failed: nothing to test", "fix the errors above")
    if outcome.worst is not None and outcome.worst >= Severity.ERROR:
        click.echo("warning: the workspace has errors, and their entities are not tested; run `octoc check`", err=True)
    return outcome.bundle


def bundle_names(bundle: Path, trust: Path | None) -> FixtureNames:
    """Return the names that fixtures may use: those of the bundle. Raises: FindingsError when it is refused."""
    from octoc.bundle.reader import OpenBundle
    from octoc.bundle.refusal import BundleFileError
    from octoc.cli.failures import FindingsError
    from octoc.compiler.workspace.fixtures import known_in

    try:
        with OpenBundle.open(bundle, trust=trust) as opened:
            return known_in(opened.bundle)
    except BundleFileError as refused:
        raise FindingsError([refused.diagnostic()]) from None


def evaluate_bundle(bundle: Path, root: Path, fixtures: Fixtures, trust: Path | None) -> Results:
    """Run the fixtures; the bundle has been opened before, so it is sound. Raises: UserError."""
    import asyncio

    from octoc.cli.progress import ProgressLine
    from octoc.evaluation import open_for_tests, run_fixtures
    from octoc.plugin.protocols import PluginError

    async def run() -> Results:
        async with open_for_tests(bundle, workspace=root, trust=trust) as runtime:
            with ProgressLine() as progress:
                return run_fixtures(runtime, fixtures, progress)

    try:
        return asyncio.run(run())
    except PluginError as error:
        raise UserError(str(error), "`octoc show --json` names the bundle's plugins") from None
