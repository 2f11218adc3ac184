"""Files of a workspace that patterns match: those of `[routing]`, and those that every build reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Literal

from octoc.compiler.discover.found import DiscoveredLists
from octoc.compiler.discover.walk import FolderEntry, children, enter
from octoc.compiler.inputs.routing import BACKGROUND, EXPANDED_FILE, FIXTURES
from octoc.compiler.model.settings import RoutingSettings, WorkspaceSettings
from octoc.diagnostics.model import Place
from octoc.diagnostics.rules import read as rules
from octoc.plugin.file_kinds import FileKind

_WILD = frozenset("*?[")


def add_fixtures(workspace: FolderEntry, settings: WorkspaceSettings, found: DiscoveredLists) -> None:
    """Add every file that a pattern of `fixtures` matches, sorted by path for each pattern; none twice.

    A pattern that matches nothing is an error, unless it is the default. `*` and `?` match inside one name.
    """
    for entry in _of_setting(workspace, settings, "fixtures", found):
        # It lies among fixtures, and has a form of its own.
        if entry.display != EXPANDED_FILE:
            found.add(entry, FIXTURES, key={"file": entry.path.stem})


def add_background(workspace: FolderEntry, settings: WorkspaceSettings, found: DiscoveredLists) -> None:
    """Add every file that a pattern of `background` matches."""
    for entry in _of_setting(workspace, settings, "background", found):
        found.add(entry, BACKGROUND, key={"file": entry.path.stem})


def add_workspace_files(workspace: FolderEntry, kinds: Iterable[FileKind], found: DiscoveredLists) -> None:
    """Add the files of each kind that a build reads whatever the settings say, sorted by path for each pattern."""
    for kind in kinds:
        _add_matching(workspace, kind, kind.workspace_files, found)


def add_checked_files(workspace: FolderEntry, kinds: Iterable[FileKind], found: DiscoveredLists) -> None:
    """Add the files of each kind that a check reads and a build does not."""
    for kind in kinds:
        _add_matching(workspace, kind, kind.checked_files, found)


def _add_matching(workspace: FolderEntry, kind: FileKind, patterns: Iterable[str], found: DiscoveredLists) -> None:
    for pattern in patterns:
        matched = [entry for entry in _matching(workspace, pattern.split("/"), found) if not entry.is_dir]
        for entry in sorted(matched, key=lambda entry: entry.display):
            found.add(entry, kind, key=kind.key(entry.path))


def _of_setting(
    workspace: FolderEntry, settings: WorkspaceSettings, key: Literal["fixtures", "background"], found: DiscoveredLists
) -> Iterator[FolderEntry]:
    """Yield the files that the patterns of `[routing] key` match, each once."""
    patterns: tuple[str, ...] = getattr(settings.routing, key)
    is_default = patterns == getattr(RoutingSettings(), key)
    at = settings.place.child("routing", key)
    yield from files_matching(workspace, patterns, at, found, may_be_none=is_default)


def files_matching(
    workspace: FolderEntry, patterns: tuple[str, ...], setting: Place, found: DiscoveredLists, *, may_be_none: bool
) -> Iterator[FolderEntry]:
    """Yield the files that patterns of octoc.toml match, each once, sorted by path for each pattern.

    Args:
        setting: where the list of patterns stands.
        may_be_none: whether a pattern may match nothing.
    """
    seen: set[str] = set()
    for index, pattern in enumerate(patterns):
        at = setting.child(index)
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        if pattern.startswith("/") or ".." in parts:
            found.sink.report(
                rules.OUTSIDE_ROOT,
                f"`{pattern}` leads out of {workspace.root.what}",
                at=at,
                help="write a path inside the workspace",
            )
            continue
        matched = [entry for entry in _matching(workspace, parts, found) if not entry.is_dir]
        for entry in sorted(matched, key=lambda entry: entry.display):
            if entry.display not in seen:
                seen.add(entry.display)
                yield entry
        if not matched and not may_be_none:
            found.sink.report(
                rules.MISSING_PATH, f"`{pattern}` matches no file", at=at, help="correct it, or delete it"
            )


def _matching(folder: FolderEntry, parts: list[str], found: DiscoveredLists) -> Iterator[FolderEntry]:
    if not parts or not folder.is_dir:
        yield from () if parts else (folder,)
        return
    first, *rest = parts
    if _WILD.isdisjoint(first):
        path = folder.path / first
        display = first if folder.display == "." else f"{folder.display}/{first}"
        entry = enter(path, display, folder.root, found.sink)
        inside = [] if entry is None else [entry]
    else:
        inside = [entry for entry in children(folder, found.sink) if fnmatchcase(entry.name, first)]
    for entry in inside:
        yield from _matching(entry, rest, found)
