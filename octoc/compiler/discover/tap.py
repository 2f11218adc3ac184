"""The files of one tap: capabilities, agents, skills and dependency scripts."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from octoc.compiler.discover.defaults import DEFAULT, add_default
from octoc.compiler.discover.deps import add_deps
from octoc.compiler.discover.found import DiscoveredLists, named, toml_stem
from octoc.compiler.discover.misnamed import report_misnamed
from octoc.compiler.discover.skill_groups import grouped_skills, has_skill
from octoc.compiler.discover.walk import FolderEntry, child, children, files_below, is_compiled, subfolder
from octoc.compiler.inputs.agents.manifest import AGENT_MANIFEST
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.agents.octo import AGENT_FILE, OCTO
from octoc.compiler.inputs.capability import CAPABILITY_CONFIG, CAPABILITY_PROVIDER
from octoc.compiler.inputs.skill import SKILL, SKILL_FILE
from octoc.compiler.model.documents import Attachment, SkillFolder
from octoc.diagnostics.rules import read as rules
from octoc.diagnostics.rules.lock import COMPILED_FILE

CONFIG = "config"
RESOURCE_FOLDERS = ("assets", "references", "scripts")
PARTS = ("agents", "capabilities", "deps", "skills")


def add_tap(root: FolderEntry, tap: str, found: DiscoveredLists) -> None:
    """Add everything in the tap whose folder is `root`."""
    folders = {part: subfolder(root, part, found.sink) for part in PARTS}
    if not any(folders.values()):
        found.sink.report(
            rules.INCOMPLETE_FOLDER,
            f"tap `{tap}` is empty: `{root.display}` has none of {', '.join(f'`{part}/`' for part in PARTS)}",
            at=root.place,
        )
    # In the order of their names, so that the tap's files are in the order of their paths.
    if folders["agents"]:
        add_agent_folder(folders["agents"], tap, found)
    if folders["capabilities"]:
        for entry in children(folders["capabilities"], found.sink):
            if not entry.is_dir and toml_stem(entry) is not None:
                _report_misplaced(entry, f"{folders['capabilities'].display}/<capability>/<provider>.toml", found)
    for folder in _folders(folders["capabilities"], "a capability", found):
        _add_capability(folder, tap, found)
    add_deps(folders["deps"], tap, found)
    if folders["skills"]:
        add_skills(folders["skills"], tap, found)


def add_skills(parent: FolderEntry, tap: str, found: DiscoveredLists, *, has_groups: bool = False) -> None:
    """Add every `<name>/SKILL.md` in `parent`; `tap` is empty for a folder of the workspace's own.

    With `has_groups` also `<group>/<name>/SKILL.md` where a client looks into groups, which a build does not.

    A folder that was added before is left out: `.claude/skills` is often a link to `.agents/skills`, or full of them.
    """
    # A project's folder of skills may hold other folders, and another program may have one of the same name.
    if tap:
        folders = _folders(parent, "a skill", found)
    else:
        inside = _inside(parent, found)
        report_misnamed([one for one in inside if not has_skill(one)], found.sink)
        folders = [one for one in inside if has_skill(one) and not one.name.startswith("_")]  # a template
        folders += grouped_skills(inside, found.sink) if has_groups else []
    for folder in folders:
        if not tap and not named(folder, folder.name, "a skill", found.sink):
            continue
        real = os.path.realpath(folder.path)
        if tap or real not in found.skill_roots:
            found.skill_roots.add(real)
            _add_skill(folder, tap, found)


def add_agent_folder(folder: FolderEntry, tap: str | None, found: DiscoveredLists) -> None:
    """Add `<dir>/AGENT.md` and `<domain>/<spec>.toml` below `folder`; in a workspace (`tap` None) also its `*.md`.

    A manifest at another depth is reported: nothing reads it.
    """
    for entry in children(folder, found.sink):
        if entry.is_dir:
            listed = list(children(entry, found.sink))
            if not any(inside.name == AGENT_FILE for inside in listed):  # what lies beside one may be anything
                _report_too_deep(listed, f"{folder.display}/<domain>/<spec>.toml", found)
            for inside in listed:
                spec = toml_stem(inside)
                if inside.name == AGENT_FILE and not inside.is_dir:
                    found.add(inside, AGENT_MD, tap=tap, key={"folder": entry.name}, dialect=OCTO)
                elif (
                    spec is not None
                    and named(entry, entry.name, "a domain", found.sink)
                    and named(inside, spec, "an agent", found.sink)
                ):
                    found.add(inside, AGENT_MANIFEST, tap=tap, key={"domain": entry.name, "spec": spec})
        elif tap is None and is_agent_markdown(entry):
            key = {"folder": folder.name, "stem": entry.name.removesuffix(".md")}
            found.add(entry, AGENT_MD, key=key, dialect=OCTO)
        elif toml_stem(entry) is not None:
            _report_misplaced(entry, f"{folder.display}/<domain>/<spec>.toml", found)


def is_agent_markdown(entry: FolderEntry) -> bool:
    """Tell whether a file of an agents folder may define an agent. `AGENTS.md` is instructions, and something else."""
    return entry.name.endswith(".md") and entry.name != "AGENTS.md"


def _folders(parent: FolderEntry | None, what: str, found: DiscoveredLists) -> list[FolderEntry]:
    inside = [] if parent is None else _inside(parent, found)
    return [entry for entry in inside if named(entry, entry.name, what, found.sink)]


def _inside(parent: FolderEntry, found: DiscoveredLists) -> list[FolderEntry]:
    return [entry for entry in children(parent, found.sink) if entry.is_dir]


def _add_capability(folder: FolderEntry, tap: str, found: DiscoveredLists) -> None:
    listed = list(children(folder, found.sink))
    _report_too_deep(listed, f"{folder.display}/<provider>.toml", found)
    stems = {stem: entry for entry in listed if (stem := _own_stem(entry)) is not None}
    config = stems.pop(CONFIG, None)
    if config is not None:
        found.add(config, CAPABILITY_CONFIG, tap=tap, key={"capability": folder.name})
    providers = {stem: entry for stem, entry in stems.items() if named(entry, stem, "a provider", found.sink)}
    before = len(found.files) + len(found.default_links)
    add_default(folder, tap, providers, found)
    for stem, entry in providers.items():
        key = {"capability": folder.name, "provider": stem}
        found.add(entry, CAPABILITY_PROVIDER, tap=tap, key=key)
    # One with a `config.toml` adds triggers to the capability of another tap, which is looked up later.
    if len(found.files) + len(found.default_links) == before and config is None:
        message = f"capability `{folder.name}` has no provider file"
        found.sink.report(
            rules.INCOMPLETE_FOLDER, message, at=folder.place, help=f"add `{folder.display}/{DEFAULT}.toml`"
        )


def _report_too_deep(listed: list[FolderEntry], expected: str, found: DiscoveredLists) -> None:
    """Report TOML files in the folders among `listed`, which is one folder's contents."""
    for inside in listed:
        for file in files_below(inside, found.sink) if inside.is_dir else ():
            if toml_stem(file) is not None:
                _report_misplaced(file, expected, found)


def _report_misplaced(entry: FolderEntry, expected: str, found: DiscoveredLists) -> None:
    message = f"nothing reads `{entry.display}`: it is not at `{expected}`"
    found.sink.report(rules.MISPLACED_FILE, message, at=entry.place, help="move it there, or out of the tap")


def _own_stem(entry: FolderEntry) -> str | None:
    stem = toml_stem(entry)
    return None if stem == DEFAULT else stem


def _add_skill(folder: FolderEntry, tap: str, found: DiscoveredLists) -> None:
    file = child(folder, SKILL_FILE, found.sink)
    if file is None or file.is_dir:
        if tap:  # a project's folder of skills may group them in others
            message = f"skill `{folder.name}` has no `SKILL.md`"
            found.sink.report(
                rules.INCOMPLETE_FOLDER, message, at=folder.place, help=f"add `{folder.display}/SKILL.md`"
            )
        return
    found.add(file, SKILL, tap=tap or None, key={"skill": folder.name})
    # Whatever lies in the folder may be read by the model, or executed for it, also what no list names.
    for entry in files_below(folder, found.sink, hidden=True):
        if is_compiled(entry):
            _report_compiled(entry, found)
        elif entry.display != file.display:
            found.attachments.append(
                Attachment(path=entry.path, display=entry.display, is_executable=_is_executable(entry.path))
            )
    resources: list[str] = []
    for name in RESOURCE_FOLDERS:
        inside = subfolder(folder, name, found.sink)
        if inside is not None:
            below = (entry for entry in files_below(inside, found.sink) if not is_compiled(entry))
            resources.extend(entry.display.removeprefix(f"{folder.display}/") for entry in below)
    validate = child(folder, "validate", found.sink)
    found.skill_folders.append(
        SkillFolder(
            tap=tap,
            skill=folder.name,
            resources=tuple(sorted(resources)),
            has_validate=validate is not None and not validate.is_dir,
            unlisted=_unlisted(folder, found),
            folder=folder.display,
        )
    )


def _report_compiled(entry: FolderEntry, found: DiscoveredLists) -> None:
    """Report a file that Python may run in place of its source, where each file that runs must be in the lock."""
    if found.locked:
        message = f"the lock does not pin `{entry.display}`, which Python may run in place of its source"
        found.sink.report(COMPILED_FILE, message, at=entry.place, help="delete it: Python writes it again")


def _is_executable(path: Path) -> bool:
    try:
        return bool(path.stat().st_mode & stat.S_IXUSR)
    except OSError:  # reading it reports why
        return False


def _unlisted(folder: FolderEntry, found: DiscoveredLists) -> tuple[str, ...]:
    """Return the names of a skill's other folders. One whose name starts with a dot or `__` is a tool's own."""
    names = (entry.name for entry in children(folder, found.sink) if entry.is_dir)
    return tuple(sorted(name for name in names if name not in RESOURCE_FOLDERS and not name.startswith((".", "__"))))
