"""Names in Claude Code's settings: marketplaces without a source, and plugins that the repository's own does not have.

Source: Claude Code, marketplace reference (code.claude.com, 2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.fixes.edits import renamed
from octoc.compiler.inputs.claude.paths import is_missing, values_of
from octoc.compiler.inputs.claude.plugin import MARKETPLACE_FILE
from octoc.diagnostics.model import Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import MISSING_KEY
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.diagnostics.rules.lint_servers import UNDEFINED_NAME
from octoc.diagnostics.suggest import near_names
from octoc.lists import one_of

_SOURCES = {
    "github": "repo", "git": "url", "url": "url", "npm": "package", "file": "path", "directory": "path",
    "hostPattern": "hostPattern",
}  # fmt: skip
"""Kinds of sources of a marketplace, and what each needs. A newer kind is not judged."""


def check_marketplaces(values: Mapping[str, Any], project: Path, inspection: FileInspection) -> None:
    """Report marketplaces whose source Claude Code cannot read, and folders of the project that are not there."""
    known = values.get("extraKnownMarketplaces", {})
    for name, entry in known.items() if isinstance(known, Mapping) else ():
        source = entry.get("source") if isinstance(entry, Mapping) else None
        kind = source.get("source") if isinstance(source, Mapping) else None
        needed = _SOURCES.get(kind) if isinstance(kind, str) else "source"
        given = source.get(needed) if isinstance(source, Mapping) and needed else None
        path = ("extraKnownMarketplaces", name, *(("source",) if isinstance(source, Mapping) else ()))
        if needed is not None and not isinstance(given, str):
            inspection.report(
                MISSING_KEY,
                f"marketplace `{name}` has no source that Claude Code reads",
                path,
                key=True,
                help=f"add `{needed}` to `source`"
                if isinstance(kind, str)
                else 'write it as `"source": {"source": "github", "repo": "owner/name"}`',
                severity=Severity.WARNING,
            )
        elif kind in ("file", "directory") and str(given).startswith("./") and is_missing(project, str(given)):
            inspection.report(
                NAMED_FILE_MISSING,
                f"marketplace `{name}` is in `{given}`, which is not there",
                (*path, "path"),
                help="the path begins in the project's folder",
                severity=Severity.WARNING,
            )


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
