"""Skills in groups, `skills/<group>/<name>/SKILL.md`: where a client looks for them, and where none does.

Source: Codex, OpenCode 1.17 and `skills` 1.5 (`npx skills`) look into groups; Claude Code 2.1 (issues 20979 and 39138)
and Gemini CLI 0.56 do not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from octoc.compiler.discover.walk import FolderEntry, children
from octoc.compiler.inputs.claude.plugin import PLUGIN_FILE
from octoc.compiler.inputs.skill import SKILL_FILE, skill_client
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.read import MISPLACED_FILE

MAX_DEPTH = 4
"""Groups in groups that are looked into."""
_OF_TOOLS = frozenset({"__fixtures__", "__pycache__", "fixture", "fixtures", "node_modules", "templates", "testdata"})


def has_skill(folder: FolderEntry) -> bool:
    """Tell whether a folder is a skill's."""
    return os.path.lexists(folder.path / SKILL_FILE)


def grouped_skills(folders: Sequence[FolderEntry], sink: DiagnosticSink) -> list[FolderEntry]:
    """Return the skills in groups below `folders`, which are in one folder of skills; report those that are not found.

    What lies in a skill is a part of it.
    """
    groups = [one for one in folders if _is_group(one)]
    skills = [skill for group in groups for skill in _skills_in(group, sink, MAX_DEPTH)]
    if not skills:
        return []
    client = skill_client(skills[0].display, None)
    if not client.is_flat:
        return skills
    # A link beside the groups makes a skill known.
    names = {os.path.realpath(one.path) for one in folders}
    lost = [one for one in skills if os.path.realpath(one.path) not in names]
    if lost:
        parent = folders[0].display.rpartition("/")[0]
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        sink.report(
            MISPLACED_FILE,
            f"{client.client} does not find `{lost[0].display}/{SKILL_FILE}`{more}: it reads "
            f"`{parent}/<skill>/{SKILL_FILE}` alone",
            at=Place(file=f"{lost[0].display}/{SKILL_FILE}"),
            help=f"move the skill to `{parent}/{lost[0].name}`, or link to it there",
        )
    return []


def _is_group(folder: FolderEntry) -> bool:
    is_wanted = folder.name not in _OF_TOOLS and not folder.name.startswith("_")
    return is_wanted and not has_skill(folder) and not (folder.path / PLUGIN_FILE).is_file()


def _skills_in(group: FolderEntry, sink: DiagnosticSink, depth: int) -> Iterator[FolderEntry]:
    for entry in children(group, sink):
        if not entry.is_dir:
            continue
        if has_skill(entry):
            yield entry
        elif depth and entry.name != "skills" and _is_group(entry):  # a folder of skills of its own is read as one
            yield from _skills_in(entry, sink, depth - 1)
