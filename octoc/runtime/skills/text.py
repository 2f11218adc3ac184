"""A skill as the model reads it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from octoc.bundle.model import SkillEntry

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState

MAX_RESOURCES = 200
_WORKSPACE = "${workspaceFolder}"


def skill_block(session: SessionState, entry: SkillEntry) -> str:
    """Return a skill's text and the paths of its files, in Octomind's tags. Raises: BundleFileError.

    Source: Octomind, `skill` use.
    """
    body = session.loaded.opened.text(entry.body)
    description = entry.description.replace('"', "&quot;")
    resources = "".join(f"\n\n{part}" for part in _resources(session, entry))
    return f'<skill name="{entry.name}" description="{description}">\n{body}{resources}\n</skill>'


def _resources(session: SessionState, entry: SkillEntry) -> Iterator[str]:
    """Yield a heading, and a list for each folder of resources; a file that is not on this machine is marked."""
    if not entry.resources:
        return
    yield "## Skill Resources"
    folder = entry.folder.replace(_WORKSPACE, str(session.loaded.workspace), 1)
    groups: dict[str, list[str]] = {}
    for resource in entry.resources[:MAX_RESOURCES]:
        group, _, name = resource.partition("/")
        path = f"{folder}/{resource}"
        where = path if folder and os.path.isfile(path) else "not on this machine"  # noqa: PTH113  # a text
        groups.setdefault(group, []).append(f"- `{name}` — {where}")
    for group, lines in groups.items():
        yield "\n".join([f"**{group}/**", *lines])
    if len(entry.resources) > MAX_RESOURCES:
        yield f"({len(entry.resources) - MAX_RESOURCES} more are not listed)"
