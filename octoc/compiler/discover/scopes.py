"""Files with tables of scopes: what the patterns of `[scopes] paths` match."""

from __future__ import annotations

from typing import Any

import attrs

from octoc.compiler.discover.fixtures import files_matching
from octoc.compiler.discover.found import DiscoveredLists
from octoc.compiler.discover.walk import FolderEntry
from octoc.compiler.inputs.scopes import SCOPES
from octoc.compiler.model.settings import ScopeSettings, WorkspaceSettings
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Rule


class _Counting(DiagnosticSink):
    """Passes on what is reported, and counts it: also what the workspace suppresses."""

    def __init__(self, sink: DiagnosticSink) -> None:
        super().__init__()
        self._to = sink
        self.count = 0

    def report(self, rule: Rule, message: str, **what: Any) -> None:
        self.count += 1
        self._to.report(rule, message, **what)


def add_scopes(workspace: FolderEntry, settings: WorkspaceSettings, found: DiscoveredLists) -> bool:
    """Add every file that a pattern matches; tells whether all that is asked for is there and may be used."""
    sink = _Counting(found.sink)
    watched = attrs.evolve(found, sink=sink)
    paths = settings.scopes.paths
    at = settings.place.child("scopes", "paths")
    is_default = paths == ScopeSettings().paths
    for entry in files_matching(workspace, paths, at, watched, may_be_none=is_default):
        found.add(entry, SCOPES, key={"file": entry.path.stem})
    return sink.count == 0
