"""A folder without octoc.toml: finds what agents' tools are declared in, by the names that their clients look for.

The walk follows no link to a folder, skips what others have put there (`node_modules`, virtual environments), and ends.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import attrs

from octoc.compiler.checkup.foreign_agents import has_foreign_tools, is_foreign_agent
from octoc.compiler.checkup.kinds import (
    SYNTAX_OF,
    Known,
    is_bare_agent_of_plugin,
    kind_from_content,
    kinds_from_path,
    known_as,
)
from octoc.compiler.discover.found import DiscoveredLists
from octoc.compiler.discover.tap import PARTS, add_skills, add_tap
from octoc.compiler.discover.walk import FolderEntry, WalkRoot, enter
from octoc.compiler.inputs.agents.claude import CLAUDE
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.agents.octo import OCTO, OCTO_FOLDER
from octoc.compiler.inputs.project import own_server_file
from octoc.compiler.inputs.registry import FileKinds
from octoc.compiler.inputs.settings.clients import SettingsDialect
from octoc.compiler.inputs.skill import SKILL, SKILL_FILE
from octoc.compiler.model.documents import Discovered, Tap
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.read.fences import opens
from octoc.compiler.workspace.files import bytes_if_any
from octoc.compiler.workspace.paths import WORKSPACE_FILE, display_path
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.read import WALK_CUT_SHORT
from octoc.plugin.file_kinds import FileKind, project_of

MAX_ENTRIES = 200_000
"""Files and folders that are looked at, at most."""
MAX_DEPTH = 24
_SKIPPED = frozenset({
    "__fixtures__", "__pycache__", "__pypackages__", "_build", "bower_components", "buck-out", "build", "dist",
    "fixture", "fixtures", "node_modules", "site-packages", "target", "testdata", "venv",
})  # fmt: skip
_VENV_MARK = "pyvenv.cfg"
_HEAD_BYTES = 65_536
_MAX_ANY_BYTES = 8_000_000
"""Largest file that a scan reads whole to see what it is."""
_LOOKED_INTO = 20  # skills of a folder that tell whether it is a tap


@attrs.frozen(kw_only=True)
class Scan:
    """What a folder holds: files that are checked together, and folders below it that are workspaces of their own."""

    together: tuple[Discovered, ...]
    workspaces: tuple[Path, ...]


@attrs.define
class _Seen:
    files: list[tuple[Path, Known]] = attrs.field(factory=list)
    without_servers: list[tuple[Path, Known]] = attrs.field(factory=list)
    taps: list[Path] = attrs.field(factory=list)
    skill_folders: list[Path] = attrs.field(factory=list)
    lone_skills: list[Path] = attrs.field(factory=list)
    workspaces: list[Path] = attrs.field(factory=list)


def scan_folder(base: Path, folder: Path, settings: WorkspaceSettings, sink: DiagnosticSink, kinds: FileKinds) -> Scan:
    """Find what can be checked in `folder`.

    Args:
        base: the folder that display paths are relative to; absolute, as `folder` is.
        settings: the defaults.
    """
    seen = _Seen()
    hidden = {part for path in settings.skills.paths for part in Path(path).parts if part.startswith(".")}
    for here, names in walk_folders(base, folder, sink, kinds.hidden_folders | hidden):
        if here != folder and WORKSPACE_FILE in names:
            seen.workspaces.append(here)
            continue
        if looks_like_tap(here):
            seen.taps.append(here)
        elif here.name == "skills" and not looks_like_tap(here.parent):
            seen.skill_folders.append(here)
        elif SKILL_FILE in names and _is_lone_skill(here, folder, seen):
            seen.lone_skills.append(here / SKILL_FILE)
        for path, known in _known_files(here, names, kinds):
            (seen.files if _has_servers(path, known) else seen.without_servers).append((path, known))
    root = WalkRoot(real=os.path.realpath(folder), what=f"`{display_path(base, folder)}`")
    projects = {folder, *(_project_of(*file) for file in seen.files if file[1].kind.role == "servers")}
    together: list[Discovered] = []
    for project in sorted(projects):
        inside = [(path, known) for path, known in seen.files if _nearest(path, projects) == project]
        taps = [tap for tap in seen.taps if _nearest(tap, projects) == project]
        skills = [path for path in seen.skill_folders if _nearest(path, projects) == project]
        lone = [
            (path, known_as(path, SKILL, kinds)) for path in seen.lone_skills if _nearest(path, projects) == project
        ]
        together.extend(_of_project(base, inside, taps, skills, lone, root, settings, sink))
    # A client's settings without servers make no project, but there is something to check.
    for path, known in filter(_is_whole, seen.without_servers) if not together else ():
        together.extend(_alone(base, path, known, root, settings, sink))
    return Scan(together=tuple(together), workspaces=tuple(seen.workspaces))


def _is_lone_skill(here: Path, folder: Path, seen: _Seen) -> bool:
    """Tell whether a folder that is in no folder of skills is a skill's all the same, which `npx skills` installs.

    What lies in another skill is a part of it, and a client's hidden folder has skills in its folder of skills alone.
    """
    inside = here.relative_to(folder)
    is_own = "skills" not in inside.parts and not any(part.startswith((".", "_")) for part in inside.parts)
    return (
        is_own
        and not any(skill.parent in here.parents for skill in seen.lone_skills)
        and opens(head_of(here / SKILL_FILE))
    )


_OF_CAPABILITY = re.compile(
    r"^[ \t]*(?:triggers|server_refs|allowed_tools)\b|^[ \t]*\[\[?(?:roles|mcp|deps)\b", re.MULTILINE
)
_MANIFEST = re.compile(r"(?=.*^apiVersion:)(?=.*^kind:)", re.MULTILINE | re.DOTALL)


def looks_like_tap(folder: Path) -> bool:
    """Tell whether a folder holds capabilities, or skills with keys of Octomind. A hidden folder is another program's.

    Skills of other clients make no tap: plugins and projects have them, too.
    """
    if folder.name.startswith("."):
        return False
    capabilities = islice(_files_in(folder, "capabilities", "*/*.toml"), _LOOKED_INTO)
    if any(_OF_CAPABILITY.search(head_of(path)) for path in capabilities):
        return True
    return any(_of_octomind(head_of(path)) for path in islice(_files_in(folder, "skills", "*/SKILL.md"), _LOOKED_INTO))


def _files_in(folder: Path, part: str, pattern: str) -> Iterator[Path]:
    return (folder / part).glob(pattern) if (folder / part).is_dir() else iter(())


def _of_octomind(text: str) -> bool:
    """Tell whether front matter has keys that only Octomind's skills have together."""
    lines = text.partition("\n---")[0].split("\n") if opens(text) else ()
    return {"domains", "rules"} <= {line.partition(":")[0] for line in lines}


def enclosing_tap(path: Path) -> Path | None:
    """Return the tap that `path`, absolute, lies in by its place in it (`<tap>/capabilities/…`), or None."""
    inside = path
    for folder in path.parents:
        if inside.name in PARTS and looks_like_tap(folder):
            return folder
        inside = folder
    return None


def _of_project(
    base: Path,
    files: list[tuple[Path, Known]],
    taps: list[Path],
    skill_folders: list[Path],
    lone_skills: list[tuple[Path, Known]],
    root: WalkRoot,
    settings: WorkspaceSettings,
    sink: DiagnosticSink,
) -> Iterator[Discovered]:
    # Where there are several, the first is the project's own; the others are other clients' and checked by themselves.
    mcp = sorted((entry for entry in files if entry[1].kind.role == "servers"), key=_mcp_rank)
    others = [entry for entry in files if entry[1].kind.role != "servers"]
    own, in_taps = DiscoveredLists(sink=sink), DiscoveredLists(sink=sink)
    for path, known in [*mcp[:1], *sorted(others, key=lambda entry: entry[0])]:
        _add(base, path, known, root, own)
    for folder in sorted(skill_folders, key=_has_links_alone):
        entry = enter(folder, display_path(base, folder), root, sink)
        if entry is not None:
            add_skills(entry, "", own, has_groups=True)
    for path, known in lone_skills:
        if os.path.realpath(path.parent) not in own.skill_roots:  # a link in a folder of skills may lead to it
            _add(base, path, known, root, own)
    for path in taps:
        display = display_path(base, path)
        place = Place(file=display)
        name = path.name if path.name not in {tap.name for tap in in_taps.taps} else display
        in_taps.taps.append(Tap(name=name, root=path, display=display, precedence=len(in_taps.taps), place=place))
        boundary = WalkRoot(real=os.path.realpath(path), what=f"tap `{display}`")
        add_tap(FolderEntry(path=path, display=display, root=boundary, is_dir=True), name, in_taps)
    if own.files or in_taps.taps:
        yield Discovered(
            root=base,
            settings=settings,
            is_scanned=True,
            taps=tuple(in_taps.taps),
            files=(*own.files, *in_taps.files),
            default_links=tuple(in_taps.default_links),
            skill_folders=(*own.skill_folders, *in_taps.skill_folders),
            dep_scripts=tuple(in_taps.dep_scripts),
            dep_trees=tuple(in_taps.dep_trees),
            attachments=(*own.attachments, *in_taps.attachments),
        )
    for path, known in mcp[1:]:
        yield from _alone(base, path, known, root, settings, sink)


def _has_links_alone(folder: Path) -> bool:
    """Tell whether a folder of skills that no client owns only links to skills, which findings name at their place."""
    if any(part.startswith(".") for part in folder.parts):
        return False
    below = [one for one in folder.iterdir() if one.is_dir()]
    return bool(below) and all(one.is_symlink() for one in below)


def _alone(
    base: Path, path: Path, known: Known, root: WalkRoot, settings: WorkspaceSettings, sink: DiagnosticSink
) -> Iterator[Discovered]:
    found = DiscoveredLists(sink=sink)
    _add(base, path, known, root, found)
    if found.files:
        yield Discovered(root=base, settings=settings, files=tuple(found.files))


def _add(base: Path, path: Path, known: Known, root: WalkRoot, found: DiscoveredLists) -> None:
    entry = enter(path, display_path(base, path), root, found.sink)
    if entry is not None and not entry.is_dir:
        found.add(entry, known.kind, key=known.key, dialect=known.dialect)


def _mcp_rank(entry: tuple[Path, Known]) -> tuple[int, str]:
    path, known = entry
    return (known.dialect.rank, path.as_posix())


def _project_of(mcp_file: Path, known: Known) -> Path:
    return Path(known.dialect.project_of(mcp_file) or mcp_file.parent)


def _nearest(path: Path, projects: set[Path]) -> Path | None:
    return next((folder for folder in (path, *path.parents) if folder in projects), None)


def _known_files(folder: Path, names: list[str], kinds: FileKinds) -> Iterator[tuple[Path, Known]]:
    for name in names:
        path = folder / name
        for known in kinds_from_path(path, kinds) or (None,):
            if known is not None and (
                _is_prose(path, known)
                or _is_of_framework(path, known)
                or _is_no_settings(path, known)
                or _is_of_kubernetes(path, known)
            ):
                continue
            wanted = _looked_into(path, kinds) if known is None or known.kind.scan == "never" else known
            # Others use the names of these folders as well.
            if wanted is not None and _is_wanted(path, wanted.kind):
                yield path, wanted
            elif known is None and (of_any_name := _of_any_name(path, kinds)) is not None:
                yield path, of_any_name


def _is_prose(path: Path, known: Known) -> bool:
    """Tell whether a Markdown file has no front matter and is in no client's folder, where one is expected."""
    is_markdown = (known.dialect.syntax or known.kind.syntax) == "markdown"
    return is_markdown and not (known.kind.bare and known.dialect.home) and not opens(head_of(path))


def _is_of_framework(path: Path, known: Known) -> bool:
    """Tell whether an AGENT.md is another framework's: it is not an agent of Octo's, or no tool is one of a client."""
    if known.dialect is not OCTO or OCTO_FOLDER in path.parts:
        return False
    text = head_of(path)
    front = text.partition("\n---")[0]
    return has_foreign_tools(text) or not ("\ndescription:" in front or "\ntype:" in front)


def _is_of_kubernetes(path: Path, known: Known) -> bool:
    """Tell whether a YAML file deploys a program, such as `librechat-ingress.yaml`."""
    return known.dialect.syntax == "yaml" and _MANIFEST.match(head_of(path)) is not None


def _is_no_settings(path: Path, known: Known) -> bool:
    """Tell whether a file with the name of a client's settings or hooks has none, as those of other programs.

    It is a list, the settings are empty, or YAML without any of their keys.
    """
    if known.dialect.syntax == "yaml" and isinstance(known.dialect, SettingsDialect):
        keys = "|".join(known.dialect.root_keys)
        return re.search(rf"^(?:{keys})[ \t]*:", head_of(path), re.MULTILINE) is None
    if (known.dialect.syntax or known.kind.syntax) != "json":
        return False
    is_settings = isinstance(known.dialect, SettingsDialect)
    # Hidden files of servers, such as `.mcp.json`, are only a client's.
    may_be_others = known.kind.exclude and not any(part.startswith(".") for part in (path.name, path.parent.name))
    start = head_of(path).lstrip()[:1] if is_settings or may_be_others else "{"
    return start == "[" or (start == "" and is_settings)


def _has_servers(path: Path, known: Known) -> bool:
    return not known.dialect.is_settings or known.dialect.has_servers(head_of(path))


def _is_whole(file: tuple[Path, Known]) -> bool:
    """Tell whether a file without servers is still the client's: other programs have files of these names."""
    path, known = file
    is_named = any(pattern.rpartition("/")[2] == path.name for pattern in known.dialect.patterns)
    if known.dialect.other_keys or not is_named:
        return False
    text, key = head_of(path), re.escape(known.dialect.server_list.partition("/")[0])
    form = rf"^{key}[ \t]*:" if known.dialect.syntax == "yaml" else rf"\b{key}\b"
    return not text.lstrip().startswith("[") and re.search(form, text, re.MULTILINE) is None


def _looked_into(path: Path, kinds: FileKinds) -> Known | None:
    """Return what a file is where a build reads files of its kind, or where its content tells."""
    kind = kinds.of_workspace(path)
    if kind is not None:
        return known_as(path, kind, kinds)
    # What another client's own folder holds is in that client's form.
    if path.parent.parent.name.startswith(".") or not kinds.has_content_at(path):
        return None
    head = head_of(path)
    known = kind_from_content(path, head, kinds)
    if known is None and is_bare_agent_of_plugin(path, head):
        return known_as(path, AGENT_MD, kinds, CLAUDE)
    return None if known is not None and is_foreign_agent(path, known, head) else known


def _of_any_name(path: Path, kinds: FileKinds) -> Known | None:
    """Return what a file is whose content alone tells, whatever its name and folder are."""
    if SYNTAX_OF.get(path.suffix.lower()) != "json":
        return None
    head = head_of(path)
    for kind in kinds.of_any_name:
        if kind.may_be is None or kind.is_one is None or path.name in kind.other_names or not kind.may_be(head):
            continue
        data = bytes_if_any(path) if path.stat().st_size <= _MAX_ANY_BYTES else None
        if data is not None and kind.is_one(data.decode("utf-8-sig", errors="replace")):
            return known_as(path, kind, kinds, kinds.of_no_client(kind))
    return None


def _is_wanted(path: Path, kind: FileKind) -> bool:
    """Tell whether a scan takes a file of `kind` at `path`: anywhere, or where a build of the folder would read it."""
    patterns = (*kind.workspace_files, *kind.content_patterns, *kind.patterns)
    if kind.is_optional and not head_of(path).strip():
        return False
    if kind.scan == "everywhere":
        return True
    project = project_of(path, patterns) if kind.scan == "beside-servers" else None
    return project is not None and own_server_file(Path(project)) is not None


def head_of(path: Path) -> str:
    """Return the beginning of a file as text; none of what cannot be opened."""
    try:
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            return file.read(_HEAD_BYTES).decode("utf-8-sig", errors="replace").replace("\r\n", "\n")
    except OSError:
        return ""  # a file that cannot be opened has no content to recognize


def walk_folders(
    base: Path, folder: Path, sink: DiagnosticSink, hidden: frozenset[str]
) -> Iterator[tuple[Path, list[str]]]:
    """Yield each folder with the names of its files, sorted, parents first. Hidden folders are skipped but `hidden`."""
    looked_at = 0
    pending: list[tuple[Path, int]] = [(folder, 0)]
    while pending:
        here, depth = pending.pop()
        try:
            with os.scandir(here) as entries:
                listed = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
        except OSError:
            continue  # a folder that may not be listed is not ours to judge
        looked_at += len(listed)
        files = [name for name, is_dir in listed if not is_dir]
        if here != folder and _VENV_MARK in files:
            continue
        yield here, files
        if WORKSPACE_FILE in files and here != folder:
            continue
        if looked_at > MAX_ENTRIES or depth >= MAX_DEPTH:
            sink.report(
                WALK_CUT_SHORT,
                f"what lies below `{display_path(base, here)}` was not looked at: the folder is too large or too deep",
                at=Place(file=display_path(base, here)),
                help="name the folders that are to be checked, or write an octoc.toml",
            )
            if looked_at > MAX_ENTRIES:
                return
            continue
        in_tap = looks_like_tap(here)
        below = [
            (here / name, depth + 1)
            for name, is_dir in listed
            if is_dir and _is_entered(name, hidden) and not (in_tap and name in PARTS)
        ]
        pending.extend(reversed(below))


def _is_entered(name: str, hidden: frozenset[str]) -> bool:
    return name in hidden or not (name.startswith(".") or name in _SKIPPED)
