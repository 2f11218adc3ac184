"""What `octoc` alone prints: what octoc finds in this folder, and the next command."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs
import click

from octoc import __version__
from octoc.lists import some_names

if TYPE_CHECKING:
    from octoc.compiler.model.documents import Discovered


@attrs.frozen(kw_only=True)
class Overview:
    """Facts as (name, text), and the next commands as (words after `octoc`, reason), the first one first."""

    facts: tuple[tuple[str, str], ...]
    steps: tuple[tuple[str, str], ...]


def print_overview() -> int:
    """Print what is in the working directory, or above it; returns the exit status."""
    from octoc.diagnostics.render.text import escape

    found = overview_of(Path())
    click.echo(f"octoc {__version__}: checks, locks and runs the tools of agents")
    click.echo()
    width = max(len(name) for name, _ in found.facts) + 2
    for name, text in found.facts:
        click.echo(f"{name.ljust(width)}{escape(text)}")
    if found.steps:
        click.echo()
        width = max(len(words) for words, _ in found.steps) + 2
        for place, (words, reason) in enumerate(found.steps):
            click.echo(f"{'next:' if not place else 'then:'} octoc {words.ljust(width)}{escape(reason)}".rstrip())
    click.echo()
    click.echo("octoc --help lists all commands")
    return 0


def overview_of(start: Path) -> Overview:
    """Return what lies in `start` or in the workspace that it is in. Connects nothing and writes nothing."""
    from octoc.compiler.inputs.project import find_bare_workspace
    from octoc.compiler.workspace.paths import WORKSPACE_FILE, find_workspace

    root = find_workspace(start) or find_bare_workspace(start)
    if root is None:
        return _without_workspace(start.absolute())
    from octoc.cli.ci_workflow import github_workflow
    from octoc.compiler.cache.store import Cache
    from octoc.compiler.discover.stage import find_files
    from octoc.compiler.lock.inputs import inputs_digest
    from octoc.compiler.read.stage import input_digests
    from octoc.compiler.workspace.build import bundle_path
    from octoc.compiler.workspace.load import load_workspace
    from octoc.compiler.workspace.paths import LOCK_FILE

    place = "this folder" if root == start.absolute() else os.path.relpath(root, start.absolute())
    has_file = (root / WORKSPACE_FILE).is_file()
    facts = [("workspace", f"{place}, {WORKSPACE_FILE if has_file else f'without {WORKSPACE_FILE}'}")]
    loaded = load_workspace(root, cache=Cache(None))
    if loaded.settings is None:
        facts.append((WORKSPACE_FILE, "has errors"))
        return Overview(facts=tuple(facts), steps=(("check", f"shows what is wrong in {WORKSPACE_FILE}"),))
    discovered = find_files(loaded.settings, loaded.context)
    facts += _inputs(discovered)
    bundle = bundle_path(root, loaded.settings)
    if has_file:  # a folder without octoc.toml gets no lock
        facts.append(("lock", f"{LOCK_FILE}, {'there' if (root / LOCK_FILE).is_file() else 'not written yet'}"))
    state = _bundle(bundle, inputs_digest(discovered, input_digests(discovered)))
    facts.append(("bundle", f"{os.path.relpath(bundle, root)}, {state.text}"))
    writes_lock = has_file and not (root / LOCK_FILE).is_file()
    steps = _steps(discovered, state, has_file=has_file, no_lock=writes_lock)
    if steps[-1][0] == "report" and not github_workflow(root)[0].is_file():
        steps.append(("init --ci github", "writes a workflow that checks each pull request"))
    return Overview(facts=tuple(facts), steps=tuple(steps))


def _without_workspace(folder: Path) -> Overview:
    from octoc.compiler.workspace.init import Inputs, find_inputs

    try:
        inputs = find_inputs(folder)
    except OSError:
        inputs = Inputs()
    if inputs.is_empty:
        return Overview(
            facts=(("workspace", "none: no octoc.toml, no agents, no tap and no client's file of servers here"),),
            steps=(("init", "writes an octoc.toml for this folder"),),
        )
    facts = [("workspace", "none: no octoc.toml here or in a parent folder")]
    facts += [("agents", some_names(inputs.agent_folders))] * bool(inputs.agent_folders)
    facts += [("taps", some_names([path for _, path in inputs.taps]))] * bool(inputs.taps)
    return Overview(
        facts=tuple(facts),
        steps=(("check", "finds mistakes and writes nothing"), ("init", "makes this folder a workspace")),
    )


def _inputs(discovered: Discovered) -> list[tuple[str, str]]:
    """Return the files of servers, the agents, the taps and the records of a workspace."""
    roles = Counter(file.kind.role for file in discovered.files)
    servers = [file.display for file in discovered.files if file.tap is None and file.kind.role == "servers"]
    facts = [("servers", some_names(servers))] * bool(servers)
    facts += [("taps", some_names([tap.name for tap in discovered.taps]))] * bool(discovered.taps)
    facts += [("agents", _many(roles["agents"], "file"))] * bool(roles["agents"])
    return [*facts, ("snapshots", _many(roles["snapshots"], "server") if roles["snapshots"] else "none yet")]


@attrs.frozen(kw_only=True)
class _BundleState:
    """A bundle: its state, a text that says it, its servers without a record, and one of its tools."""

    state: Literal["missing", "broken", "stale", "current"]
    text: str
    unlisted: tuple[str, ...] = ()
    tool: str = ""


def _bundle(path: Path, inputs: str) -> _BundleState:
    from octoc.bundle.reader import OpenBundle
    from octoc.bundle.refusal import BundleFileError

    if not path.is_file():
        return _BundleState(state="missing", text="not built yet")
    try:
        bundle = OpenBundle.open(path).bundle
    except BundleFileError as refused:
        return _BundleState(state="broken", text=f"cannot be opened: {refused}")
    parts = ", ".join((
        _many(len(bundle.agents), "agent"),
        _many(len(bundle.servers), "server"),
        _many(len(bundle.tools), "tool"),
    ))  # fmt: skip
    is_current = bundle.inputs == inputs
    return _BundleState(
        state="current" if is_current else "stale",
        text=f"{parts}; {'up to date' if is_current else 'inputs changed since it was built'}",
        unlisted=tuple(server.name for server in bundle.servers if not server.listed),
        tool=next((f"{tool.server}/{tool.name}" for tool in bundle.tools), ""),
    )


def _steps(discovered: Discovered, bundle: _BundleState, *, has_file: bool, no_lock: bool) -> list[tuple[str, str]]:
    has_records = any(file.kind.role == "snapshots" for file in discovered.files)
    build = ("build", f"writes the bundle, which agents run from{', and the lock' if has_file else ''}")
    if bundle.state == "current" and not no_lock:
        steps = []
        if bundle.tool:
            steps.append((f"show tool {bundle.tool}", "shows a tool's arguments"))
            steps.append(("call SERVER TOOL", "calls a tool"))
        record = _to_record(bundle.unlisted, has_records=has_records)
        # Where others answered, these may have failed: all else works without them.
        steps = [*steps, *record] if has_records else [*record, *steps]
        steps.append(("serve --print-config CLIENT", "prints what connects a client: claude, codex, cursor, …"))
        if has_file:
            return [*steps, ("report", "writes one page about the workspace, dist/report.html")]
        return [*steps, ("init", "writes octoc.toml: settings, a lock to review, and checks in CI")]
    if has_records:  # only with the records a check knows the names of tools
        return [("check, then octoc build", "checks the names of tools, and writes the bundle")]
    checks = [("check", "finds mistakes and writes nothing")] * (bundle.state == "missing")
    return [*checks, ("pin", "starts each server once and records its tools"), build]


def _to_record(names: tuple[str, ...], *, has_records: bool) -> list[tuple[str, str]]:
    """Return the steps for servers without a record; after others were asked, the cause comes first."""
    if not names:
        return []
    of = f" {names[0]}" if len(names) == 1 else ""
    cause = [(f"doctor{of}", "shows why servers do not start; the others work without them")] * has_records
    return [*cause, (f"pin{of}", f"records the tools of {_many(len(names), 'server')} without a snapshot")]


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
