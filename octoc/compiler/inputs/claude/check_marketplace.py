"""What the schema of a marketplace cannot say: sources, repeated and reserved names, and folders that are not there.

Source: Claude Code, plugin marketplaces, and `claude plugin validate` (2.1.240). Up to 2.1.144 it refused `.` as a
source; 2.1.163 takes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.fixes.edits import replaced
from octoc.compiler.inputs.claude.check_plugin import check_components, check_name, check_path
from octoc.compiler.inputs.claude.paths import elsewhere, is_missing, values_of
from octoc.compiler.inputs.claude.plugin import PLUGIN_FILE
from octoc.compiler.model.documents import kept
from octoc.diagnostics.model import KeyPath, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import check as rules
from octoc.diagnostics.rules.claude import IGNORED_KEY, NAMED_FILE_MISSING, PLUGIN_PATH_REFUSED
from octoc.lists import one_of

_RESERVED = frozenset({
    "agent-skills", "anthropic-agent-skills", "anthropic-marketplace", "anthropic-plugin-directory",
    "anthropic-plugins", "claude-code-marketplace", "claude-code-plugins", "claude-community",
    "claude-for-financial-services", "claude-for-legal", "claude-plugin-directory", "claude-plugins-community",
    "claude-plugins-official", "claude-tag-plugins", "financial-services-plugins", "first-party-plugins", "healthcare",
    "knowledge-work-plugins", "life-sciences",
})  # fmt: skip
_FIELDS = {
    "github": ("repo",), "url": ("url",), "git-subdir": ("url", "path"), "npm": ("package",), "archive": ("url",),
    "command": ("command",),
}  # fmt: skip
"""Kinds of sources, and what each needs. A newer kind shows the entry and refuses to install it."""


def check_marketplace(values: Mapping[str, Any], inspection: FileInspection) -> None:
    """Check a marketplace whose schema is met."""
    name = values.get("name")
    check_name(name, ("name",), inspection)
    owner = values.get("owner", {}).get("name", "")
    if name in _RESERVED and "anthropic" not in str(owner).lower():
        inspection.report(
            rules.UNEXPECTED_VALUE,
            f"`{name}` is a name that Claude Code keeps for Anthropic's own marketplaces",
            ("name",),
            help="give it another name: `claude plugin marketplace add` refuses this one",
        )
    first: dict[str, int] = {}
    for index, entry in kept(values.get("plugins", ())):
        path: KeyPath = ("plugins", index)
        plugin = entry["name"]
        check_name(plugin, (*path, "name"), inspection)
        if first.setdefault(plugin, index) != index:
            inspection.report(
                rules.REPEATED_NAME,
                f"two plugins of this marketplace are called `{plugin}`",
                (*path, "name"),
                related={"the first is here": ("plugins", first[plugin], "name")},
                help="give one of them another name",
            )
        _check_source(entry, path, values.get("metadata"), inspection)


def _check_source(entry: Mapping[str, Any], path: KeyPath, metadata: Any, inspection: FileInspection) -> None:
    source = entry.get("source")
    at = (*path, "source")
    if source == ".":
        place = Place(file=inspection.file.display, path=at)
        inspection.report(
            PLUGIN_PATH_REFUSED,
            "`.` does not begin with `./`, and Claude Code refused the whole marketplace for it up to 2.1.144",
            at,
            severity=Severity.INFO,
            help="write `./`",
            fix=replaced(place, ".", "./", "write `./`"),
        )
    if isinstance(source, str):
        root = metadata.get("pluginRoot") if isinstance(metadata, Mapping) else None
        below = f"./{root.removeprefix('./').rstrip('/')}/{source.removeprefix('./')}" if isinstance(root, str) else ""
        if below and "/" not in source and source not in ("", ".", ".."):
            source, below = below, ""
        if check_path(source, at, inspection):
            _check_folder(entry, source, below, path, inspection)
    elif isinstance(source, Mapping):
        kind = source.get("source")
        missing = [field for field in _FIELDS.get(str(kind), ()) if not isinstance(source.get(field), str)]
        if not isinstance(kind, str) or missing:
            what = f"`{missing[0]}`" if missing else f"`source`: {one_of(_FIELDS)}"
            inspection.report(rules.MISSING_KEY, f"the source of plugin `{entry['name']}` has no {what}", at)


def _check_folder(entry: Mapping[str, Any], source: str, below: str, path: KeyPath, inspection: FileInspection) -> None:
    """Report a plugin's folder that is not there.

    Args:
        below: the folder that `source` would name if `metadata.pluginRoot` stood before it; "" if it does, or is unset.
    """
    marketplace = inspection.file.path.parent.parent
    if is_missing(marketplace, source):
        of_root = f"`metadata.pluginRoot` counts only for a name without a slash: write `{below}`"
        inspection.sink.report(
            NAMED_FILE_MISSING,
            f"plugin `{entry['name']}` is in `{source}`, which is not there",
            at=Place(file=inspection.file.display, path=(*path, "source")),
            help=of_root
            if below and not is_missing(marketplace, below)
            else elsewhere(marketplace, source) or "paths begin in the folder that has `.claude-plugin/`",
            subject=inspection.file.display,
        )
        return
    folder = marketplace / source
    check_components(entry, path, folder, inspection)
    version = _version_of(folder / PLUGIN_FILE)
    if version is not None and isinstance(entry.get("version"), str) and entry["version"] != version:
        inspection.report(
            IGNORED_KEY,
            f"Claude Code takes the version of plugin `{entry['name']}` from its own manifest, `{version}`",
            (*path, "version"),
            help="delete `version` here, or write the same one",
        )


def _version_of(manifest: Path) -> str | None:
    """Return the version in a plugin's own manifest; None when it has none."""
    version = values_of(manifest).get("version")
    return version if isinstance(version, str) else None
