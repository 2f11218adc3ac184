"""Collects a report from one build that leaves the workspace as it is."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import attrs

from octoc import __version__
from octoc.bundle.reader import OpenBundle
from octoc.bundle.refusal import BundleFileError
from octoc.compiler.context import Progress, no_progress
from octoc.compiler.lock.inputs import inputs_digest
from octoc.compiler.model.build import Build
from octoc.compiler.pin.sides import SideError, side_of_data, side_of_lock
from octoc.compiler.workspace.build import bundle_path
from octoc.compiler.workspace.fixtures import Loaded, known_in, load_fixtures, look_up
from octoc.compiler.workspace.paths import LOCK_FILE, WORKSPACE_FILE
from octoc.compiler.workspace.preview import Preview, preview
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rules.lint_taps import NEAR_EQUAL_TRIGGERS, RIVALS
from octoc.evaluation.recorded import LOCK_NAME, RecordedError
from octoc.evaluation.report import Report, report_of
from octoc.installation import install_command
from octoc.names import SUPERVISOR
from octoc.pins.diff import diff
from octoc.plugin import PluginError
from octoc.report.model import AgentBill, Drift, MissingPart, WorkspaceReport
from octoc.report.reach import counts_of, scope_matrix, tool_graph, unlisted_servers
from octoc.report.skill_evals import skill_triggers

_TRIGGERS = (NEAR_EQUAL_TRIGGERS, RIVALS)


class UnreadableSettingsError(Exception):
    """There is nothing to report on, because octoc.toml cannot be read. `diagnostics` says why."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("octoc.toml cannot be read")
        self.diagnostics = diagnostics


def collect(root: Path, *, progress: Progress = no_progress, use_cache: bool = True) -> WorkspaceReport:
    """Return the report on the workspace in `root`. Starts no server, and writes nothing there.

    Raises: UnreadableSettingsError.
    """
    with tempfile.TemporaryDirectory(prefix="octoc-report-") as folder:
        found = preview(root, Path(folder) / "preview.octoc", progress=progress, use_cache=use_cache)
        if found.build is None:
            raise UnreadableSettingsError(found.diagnostics)
        fixtures = load_fixtures(root)
        routing, problem = _routing(root, found, fixtures, progress)
        return _report(root, found, found.build, routing, problem)


def _report(root: Path, found: Preview, build: Build, routing: Report | None, problem: str) -> WorkspaceReport:
    unlisted = unlisted_servers(build)
    matrix = scope_matrix(build)
    drift = None if found.lacks else _drift(root, build)
    inputs = inputs_digest(build.discovered, build.documents.digests)
    agents = sorted(found.tokens.agents, key=lambda one: (-one.start_tokens, one.agent))
    report = WorkspaceReport(
        name=build.settings.name,
        octoc_version=__version__,
        inputs=inputs,
        counts=counts_of(build),
        bill=tuple(AgentBill(one, unlisted[one.agent]) for one in agents),
        capabilities=found.tokens.capabilities,
        scope=matrix,
        graph=tool_graph(build, matrix),
        routing=routing,
        skills=None if found.lacks else skill_triggers(root),
        triggers=tuple(one for one in found.diagnostics if one.rule in _TRIGGERS),
        findings=tuple(sorted(found.diagnostics, key=lambda one: -one.severity)),
        drift=drift,
    )
    if found.lacks:
        reason = f"they need the package `{found.lacks}`, which is not installed"
        parts = [MissingPart("routing, drift, near-equal triggers", reason, install_command("octoc[build]"))]
    else:
        parts = list(_missing_routing(root, report, problem))
    return attrs.evolve(report, missing=(*_missing(root, build, report), *parts))


def _routing(root: Path, found: Preview, fixtures: Loaded, progress: Progress) -> tuple[Report | None, str]:
    """Return the results of the fixtures as `octoc test` has them; else None and the reason."""
    if not any(source.messages or source.queries for source in fixtures.sources):
        return None, ""
    if found.bundle is None:
        return None, "" if found.lacks else "errors prevent a bundle"
    bundle = found.bundle
    from octoc.evaluation.run import open_for_tests, run_fixtures  # without the packages of a build nothing can run

    async def run() -> Report:
        with OpenBundle.open(bundle) as opened:
            known = look_up(fixtures, known_in(opened.bundle))
        async with open_for_tests(bundle, workspace=root) as runtime:
            results = run_fixtures(runtime, known, progress)
        lock = root / LOCK_NAME
        recorded = lock.read_text(encoding="utf-8") if lock.is_file() else None
        return report_of(results, limits=fixtures.limits, recorded=recorded)

    try:
        return asyncio.run(run()), ""
    except RecordedError as error:
        return None, f"`{LOCK_NAME}` cannot be compared with: {error}"
    except (PluginError, BundleFileError, OSError, UnicodeDecodeError) as error:
        return None, str(error)


def _drift(root: Path, build: Build) -> Drift | None:
    path = root / LOCK_FILE
    if not path.is_file():
        return None
    try:
        old = side_of_lock(path, LOCK_FILE)
        new = side_of_data(build.locked.text.encode(), root, "the workspace")
    except SideError:
        return Drift((), None)
    return Drift(build.locked.changes, diff(old, new))


def _missing(root: Path, build: Build, report: WorkspaceReport) -> Iterator[MissingPart]:
    """Yield what the workspace lacks, in the order in which a new user adds it."""
    counts = report.counts
    if not (root / WORKSPACE_FILE).is_file():
        yield MissingPart("settings", f"this folder has no {WORKSPACE_FILE}, so nothing is locked", "octoc init")
    if not counts.servers:
        yield MissingPart("servers", "no file defines a server", "write .mcp.json, or add a tap to octoc.toml")
    if not set(build.scoped.registries) - {SUPERVISOR}:
        yield MissingPart(
            "agents", f"only octoc's own `{SUPERVISOR}`, which reaches everything", "write agents/NAME.md"
        )
    if counts.recorded < counts.servers:
        many = counts.servers - counts.recorded
        of = f"{many} of {counts.servers} servers have none, so the tokens of their tools are unknown"
        yield MissingPart("snapshots", of, "octoc pin")
    if (root / WORKSPACE_FILE).is_file() and not (root / LOCK_FILE).is_file():
        yield MissingPart("lock", "nothing to compare the workspace with", "octoc build")
    elif report.drift is not None and report.drift.tools is None:
        yield MissingPart("lock", f"{LOCK_FILE} cannot be read", "octoc check")
    state = _bundle_state(bundle_path(root, build.settings), report.inputs)
    if state:
        yield MissingPart("bundle", state, "octoc build")


def _missing_routing(root: Path, report: WorkspaceReport, problem: str) -> Iterator[MissingPart]:
    if problem:
        yield MissingPart("routing results", problem, "octoc test")
    elif report.routing is None:
        reason = "no fixture says which message needs which capability or tool"
        yield MissingPart("routing fixtures", reason, "write routing/first.toml, then octoc test")
    elif not (root / LOCK_NAME).is_file():
        yield MissingPart("recorded results", "nothing to compare routing with", "octoc test --record")
    if report.routing is not None and report.routing.results.no_encoder:
        yield MissingPart("encoder", report.routing.results.no_encoder, "octoc doctor")


def _bundle_state(path: Path, inputs: str) -> str:
    """Return why the bundle of the workspace is not what is reported on; "" if it is."""
    if not path.is_file():
        return "not built yet"
    try:
        with OpenBundle.open(path) as opened:
            is_current = opened.bundle.inputs == inputs
    except BundleFileError:
        return "the bundle cannot be opened"
    return "" if is_current else "inputs changed since the bundle was built"
