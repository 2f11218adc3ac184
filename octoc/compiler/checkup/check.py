"""Checks without building: a workspace, a folder that has no octoc.toml, or one file. What was found is remembered.

    outcome = check_target(Target(root=folder))       # the workspace in `folder`
    outcome.diagnostics

An entry of the cache has in its key all that the answer depends on; without one, the stages run. The cache is the
user's own, one folder per checked folder.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.digest import sha256_hex
from octoc.compiler.cache.build_cache import CachedOutcome, build_key, recall, remember
from octoc.compiler.cache.store import Cache, cache_key, code_stamp, workspace_cache
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.context import Context, Progress, no_progress
from octoc.compiler.discover.stage import find_files, with_checked_files
from octoc.compiler.inputs.agents.octo import OCTO, OCTO_FOLDER
from octoc.compiler.inputs.claude.paths import is_of_claude
from octoc.compiler.inputs.claude.plugin import MARKETPLACE_FILE
from octoc.compiler.inputs.instructions import importer_of, missing_imports
from octoc.compiler.inputs.mcp.scripts import names_script
from octoc.compiler.inputs.mcp.unnamed import UNNAMED
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Discovered, FoundFile
from octoc.compiler.read.stage import input_digests
from octoc.compiler.workspace.files import bytes_if_any
from octoc.compiler.workspace.load import NO_OVERLAY, LoadedWorkspace, load_workspace
from octoc.compiler.workspace.paths import LOCK_FILE, WORKSPACE_FILE, file_at
from octoc.credentials.placeholders import has_value_to_fill
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Scope, Severity
from octoc.diagnostics.rules.lint_policy import UNUSED_SUPPRESSION
from octoc.plugin.file_kinds import NO_DIALECT
from octoc.plugin.manager import Plugins

if TYPE_CHECKING:
    from octoc.compiler.inputs.claude.user import UserScope
    from octoc.compiler.workspace.environment import Environment


_FOLDERS_OF_PLUGINS = frozenset({"plugins", "external_plugins", "external-plugins", "vendor"})
_KIND = "check"


@attrs.frozen(kw_only=True)
class CheckOutcome:
    """The result of a check.

    Args:
        diagnostics: all findings, also those that `CheckTarget.shows` leaves out.
        read: the files that were looked at, absolute.
        workspaces: folders below, with an octoc.toml of their own, which were not looked at.
        unchanged: the findings are those of an earlier check of the same inputs.
        has_settings: octoc.toml could be read, or is not there. Else no other file was looked at.
        is_prose: a folder was looked through, and all that it has are texts for models.
    """

    diagnostics: tuple[Diagnostic, ...]
    read: frozenset[Path] = frozenset()
    workspaces: tuple[Path, ...] = ()
    unchanged: bool = False
    has_settings: bool = True
    is_prose: bool = False

    @property
    def worst(self) -> Severity | None:
        return max((found.severity for found in self.diagnostics), default=None)


def check_workspace(
    root: Path, *, plugins: Plugins | None = None, progress: Progress = no_progress, use_cache: bool = True
) -> CheckOutcome:
    """Return every mistake in the workspace in `root`. Write only the cache, and encode no text.

    Args:
        root: a folder, with or without an octoc.toml.
        plugins: instead of those that the workspace names.
        use_cache: return the findings of an earlier check of the same inputs.
    """
    return check_target(CheckTarget(root=root), plugins=plugins, progress=progress, use_cache=use_cache)


def check_target(
    target: CheckTarget,
    *,
    plugins: Plugins | None = None,
    progress: Progress = no_progress,
    use_cache: bool = True,
    overlay: Mapping[str, bytes] = NO_OVERLAY,
    environment: Environment | None = None,
    home: Path | None = None,
) -> CheckOutcome:
    """Find every mistake in `target`.

    Args:
        use_cache: tell again what was found before in the same inputs, and remember what is found now.
        overlay: display path -> bytes that are read instead of what is on disk; nothing is then remembered.
        environment: what the place of running has; None says nothing of it, and nothing is reported.
        home: the user's folder, whose files the check then reads, too; nothing is then remembered.
    """
    cache = Cache(workspace_cache(target.root) if use_cache and not overlay else None)
    # What was read to see whether anything changed is not read again.
    contents = dict(overlay)
    loaded = load_workspace(target.root, cache=cache, progress=progress, plugins=plugins, overlay=contents)
    loaded = attrs.evolve(
        loaded, context=attrs.evolve(loaded.context, environment=environment, user=_user(home, target))
    )
    if loaded.settings is None:
        found, read = loaded.context.sink.diagnostics, frozenset({target.root / WORKSPACE_FILE})
        return CheckOutcome(diagnostics=found, read=read, has_settings=False)
    before = loaded.context.sink.diagnostics
    together, workspaces = _found_in(target, loaded)
    read = frozenset(_read_by(together, target.root))
    # Where nothing goes through the stages, as with an octoc.toml of another name, there is nothing to save.
    depends_on_others = home is not None or any(
        file.kind.names_files or file.dialect.unread or _names_script(file) or _lacks_import(file)
        for each in together
        for file in each.files
    )
    is_remembered = together and use_cache and not overlay and not depends_on_others
    is_alone = target.folder is not None and is_of_claude(target.root, loaded.context.file_kinds.hidden_folders)
    key = _key(target, together, before, loaded.context, contents, is_alone=is_alone) if is_remembered else ""
    is_prose = target.folder is not None and all(file.kind.is_prose for each in together for file in each.files)
    known = recall(cache, key, kind=_KIND) if key else None
    if known is not None:
        return CheckOutcome(
            diagnostics=known.diagnostics, read=read, workspaces=workspaces, unchanged=True, is_prose=is_prose
        )
    # Not at the top: what is known already must not pay for the stages' imports.
    from octoc.compiler.lint.near_servers import report_near_servers
    from octoc.compiler.pipeline import run_checks

    one_file = target.file is not None and bool(together) and not together[0].files[0].kind.is_complete
    context = attrs.evolve(loaded.context, one_file=one_file)
    builds = [run_checks(Build(settings=each.settings, discovered=each), context) for each in together]
    report_near_servers(builds, context.user, context.sink)
    diagnostics = loaded.context.sink.diagnostics
    if target.file is not None:
        diagnostics = tuple(found for found in diagnostics if _stands_alone(found, one_file=one_file))
    elif target.folder is not None:
        from octoc.compiler.checkup.moderation import moderated

        files = [file for each in together for file in each.files]
        own = {file.display for file in files if file.tap is not None or _is_own(file)}
        unclaimed = {file.display for file in files if _is_unclaimed(file)} - own
        broken = {one.span.file for one in diagnostics if one.severity is Severity.ERROR and one.span is not None}
        diagnostics = moderated(
            diagnostics,
            own,
            unclaimed=unclaimed,
            unread={file.display for file in files if file.dialect.read_instead_of(file.path)},
            unfilled={file.display for file in files if file.display in broken and _is_to_fill(file)},
            vendored=set(_vendored(files)),
            is_of_claude=is_alone,
        )
    else:
        from octoc.compiler.checkup.consequences import without_consequences

        diagnostics = without_consequences(diagnostics, builds)
    if key:
        remember(cache, key, CachedOutcome(diagnostics=diagnostics), kind=_KIND)
    return CheckOutcome(diagnostics=diagnostics, read=read, workspaces=workspaces, is_prose=is_prose)


def _is_own(file: FoundFile) -> bool:
    """Tell whether a file is in a format of octoc's own."""
    return file.kind.syntax == "toml" and file.dialect is NO_DIALECT


def _is_unclaimed(file: FoundFile) -> bool:
    """Tell whether no client has a file at its path: its content alone tells what it may be."""
    return file.dialect is UNNAMED or (file.dialect is OCTO and OCTO_FOLDER not in file.path.parts)


def _vendored(files: Iterable[FoundFile]) -> Iterator[str]:
    """Yield what plugins of a marketplace bring along and only their own publishers publish."""
    published = [file for file in files if file.kind.is_published]
    roots = {file.path.parents[1] for file in published if file.path.as_posix().endswith(f"/{MARKETPLACE_FILE}")}
    # A skill that holds a repository of its publisher's has its manifests, too.
    yield from (file.display for file in published if "skills" in file.path.parts[:-3])
    for file in published:
        folder = file.path.parent
        own = folder.parent if folder.name.startswith(".") else folder
        if any(own.relative_to(root).parts[0] in _FOLDERS_OF_PLUGINS for root in roots if root in own.parents):
            yield file.display


def _names_script(file: FoundFile) -> bool:
    """Tell whether a file of servers may start a script of the project."""
    text = bytes_if_any(file.path) or b"" if file.kind.role == "servers" else b""
    return names_script(text.decode("utf-8", "replace"))


def _lacks_import(file: FoundFile) -> bool:
    """Tell whether a file of instructions imports a file that is not there: one day it may be."""
    client = importer_of(file.display) if file.kind.is_prose else ""
    text = bytes_if_any(file.path) or b"" if client else b""
    return b"@" in text and any(missing_imports(file.path, text.decode("utf-8", "replace")))


def _is_to_fill(file: FoundFile) -> bool:
    """Tell whether a file of servers, or one for a registry, has a placeholder for a value."""
    has_servers = file.kind.role == "servers" or file.kind.is_published
    text = bytes_if_any(file.path) or b"" if has_servers else b""
    return has_value_to_fill(text.decode("utf-8", "replace"))


def _user(home: Path | None, target: CheckTarget) -> UserScope | None:
    if home is None:
        return None
    from octoc.compiler.inputs.claude.user import read_user_scope

    return read_user_scope(home, target.file.parent if target.file else target.folder or target.root)


def _found_in(target: CheckTarget, loaded: LoadedWorkspace) -> tuple[tuple[Discovered, ...], tuple[Path, ...]]:
    settings, context = loaded.settings, loaded.context
    assert settings is not None  # noqa: S101  # the caller has looked
    if target.file is not None:
        from octoc.compiler.checkup.one_file import discover_one_file

        return discover_one_file(target, settings, context), ()
    if target.folder is not None:
        from octoc.compiler.checkup.scan import scan_folder

        found = scan_folder(target.root, target.folder, settings, context.sink, context.file_kinds)
        return found.together, found.workspaces
    return (with_checked_files(find_files(settings, context), context),), ()


def _read_by(together: Iterable[Discovered], root: Path) -> Iterable[Path]:
    if (root / WORKSPACE_FILE).is_file():
        yield root / WORKSPACE_FILE
    for discovered in together:
        yield from (_normal(file.path) for file in discovered.files)
        yield from (Path(os.path.normpath(file_at(root, link.place.file))) for link in discovered.default_links)


def _normal(path: Path) -> Path:
    normal = os.path.normpath(path)
    return path if normal == str(path) else Path(normal)  # making a path takes longer than the comparison


def _key(
    target: CheckTarget,
    together: tuple[Discovered, ...],
    before: tuple[Diagnostic, ...],
    context: Context,
    contents: dict[str, bytes],
    *,
    is_alone: bool,
) -> str:
    options: dict[str, Any] = {
        "check": [target.folder is not None, target.file is not None, is_alone, code_stamp()],
        # What reading octoc.toml and looking through folders has found is part of the answer.
        "before": [repr(found) for found in before],
        "found": [repr(found) for found in context.sink.diagnostics],
        # The settings do not have the places of its keys and the suppressions in its comments.
        "workspace": _digest(context.root / WORKSPACE_FILE),
        # Recorded tools are compared with the lock, which a build does not read.
        "lock": _digest(context.root / LOCK_FILE),
        "environment": None if context.environment is None else sorted(context.environment.names.items()),
    }
    versions = {"python": sys.version, "installed": _installed()}
    return cache_key(
        [build_key(each, input_digests(each, contents), versions=versions, options=options) for each in together]
    )


def _digest(path: Path) -> str:
    return sha256_hex(bytes_if_any(path) or b"")


def _installed() -> str:
    """Return what changes when a package is installed, removed or replaced: to ask each for its version takes long."""
    folders = [Path(entry) for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")]
    return " ".join(f"{folder}:{folder.stat().st_mtime_ns}" for folder in folders if folder.is_dir())


def _stands_alone(found: Diagnostic, *, one_file: bool) -> bool:
    """Tell whether a finding about one file is true whatever other files there are."""
    # A suppression may be in use where the other files are.
    return found.rule is not UNUSED_SUPPRESSION and (not one_file or found.rule.scope is not Scope.WORKSPACE)
