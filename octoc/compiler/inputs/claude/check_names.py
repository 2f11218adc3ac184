"""Plugins in Claude Code's settings that the marketplace of the same repository does not have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.fixes.edits import renamed
from octoc.compiler.inputs.claude.paths import values_of
from octoc.compiler.inputs.claude.plugin import MARKETPLACE_FILE
from octoc.diagnostics.model import Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_servers import UNDEFINED_NAME
from octoc.diagnostics.suggest import near_names
from octoc.lists import one_of


def check_names(values: Mapping[str, Any], project: Path, inspection: FileInspection) -> None:
    """Report plugins of the project's own marketplace that it does not have; other marketplaces are elsewhere."""
    marketplace = values_of(project / MARKETPLACE_FILE)
    entries = marketplace.get("plugins")
    plugins = frozenset(
        f"{one['name']}@{marketplace.get('name')}"
        for one in (entries if isinstance(entries, list) else ())
        if isinstance(one, Mapping) and isinstance(one.get("name"), str)
    )
    enabled = values.get("enabledPlugins", {})
    for name in map(str, enabled) if isinstance(enabled, Mapping) and plugins else ():
        if not name.endswith(f"@{marketplace.get('name')}") or name in plugins:
            continue
        near = near_names(name, plugins)
        place = Place(file=inspection.file.display, path=("enabledPlugins", name), part="key")
        inspection.sink.report(
            UNDEFINED_NAME,
            f"`enabledPlugins` names `{name}`, which `{MARKETPLACE_FILE}` does not have",
            at=place,
            help=f"did you mean {one_of(near)}?" if near else "correct the name, or delete it",
            severity=None if near else Severity.INFO,
            subject=f"{inspection.file.display}:enabledPlugins",
            fix=renamed(place, name, plugins),
        )
