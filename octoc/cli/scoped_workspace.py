"""A workspace compiled up to the scopes of its agents, for commands that show them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from octoc.lists import name_list

if TYPE_CHECKING:
    from octoc.compiler.model.build import Build


def scope_workspace(root: Path) -> Build:
    """Return the compiled workspace in `root`; its errors are only counted on stderr, because `octoc check` shows them.

    Raises: UnreadableError, exit status 2, when octoc.toml cannot be read.
    """
    import attrs

    from octoc.cli.failures import UnreadableWorkspaceError
    from octoc.compiler.cache.store import Cache
    from octoc.compiler.pipeline import run_to_scope
    from octoc.compiler.workspace.load import load_workspace
    from octoc.diagnostics.model import DiagnosticSink
    from octoc.diagnostics.rule import Severity

    loaded = load_workspace(root, cache=Cache(None))
    before = loaded.context.sink.diagnostics
    if loaded.settings is None:
        raise UnreadableWorkspaceError(before, root)
    # Findings are only counted, so no file is parsed again for the place of one.
    sink = DiagnosticSink()
    build = run_to_scope(loaded.settings, attrs.evolve(loaded.context, sink=sink))
    errors = sum(diagnostic.severity >= Severity.ERROR for diagnostic in (*before, *sink.diagnostics))
    if errors:
        many = "1 error" if errors == 1 else f"{errors} errors"
        click.echo(
            f"the workspace has {many}, shown by `octoc check`; entities with errors are left out here", err=True
        )
    return build


def check_agent(agent: str, build: Build) -> None:
    """Raises: UserError when the bundle would have no such agent."""
    from octoc.cli.failures import UserError
    from octoc.diagnostics.suggest import did_you_mean

    if agent not in build.scoped.registries:
        known = f"its agents are: {name_list(sorted(build.scoped.registries)[:8])}"
        raise UserError(f"the workspace has no agent `{agent}`", did_you_mean(agent, build.scoped.registries) or known)
