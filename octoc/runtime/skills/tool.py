"""The tool `skill`: list, use, forget, in Octomind's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from octoc.formats.own_tools import SKILLS_LISTED
from octoc.results import ToolResult
from octoc.runtime.skills.available import available_skills
from octoc.runtime.skills.use import forget_skill, use_skill

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState

_NONE = "No skills found. Add skills to your tap under skills/<name>/SKILL.md"
_NO_MATCH = "No skills found matching the pattern."


async def skill_tool(session: SessionState, arguments: Mapping[str, Any]) -> ToolResult:
    """Answer a call of `skill`. Raises: BundleFileError."""
    if "action" not in arguments:
        return _error("missing required parameter: action")
    action = arguments["action"]
    if not isinstance(action, str) or not action.strip():
        return _error("action must be a string")
    if action == "list":
        return ToolResult.of_text(_listed(session, arguments))
    if action not in ("use", "forget"):
        return _error(f"unknown action '{action}'. Valid actions: list, use, forget")
    if "name" not in arguments:
        return _error("missing required parameter: name")
    name = arguments["name"]
    if not isinstance(name, str) or not name.strip():
        return _error("name must be a non-empty string")
    switch = use_skill if action == "use" else forget_skill
    change = await switch(session, name.strip())
    # Octomind queues a skill's text as a separate message; here it is part of the answer, so that hosts need not.
    text = f"{change.text}\n\n{change.block}" if change.block else change.text
    return ToolResult.of_text(text, is_error=not change.ok)


def _error(text: str) -> ToolResult:
    return ToolResult.of_text(text, is_error=True)


def _listed(session: SessionState, arguments: Mapping[str, Any]) -> str:
    pattern = arguments.get("pattern")
    wanted = pattern.lower() if isinstance(pattern, str) else None
    offset, limit = _count(arguments.get("offset"), 0), _count(arguments.get("limit"), SKILLS_LISTED)
    entries = [session.loaded.skills[name] for name in available_skills(session)]
    if wanted is not None:
        entries = [entry for entry in entries if wanted in entry.name.lower() or wanted in entry.description.lower()]
    if not entries:
        return _NONE if wanted is None else _NO_MATCH
    page = entries[offset : offset + limit]
    lines = [f"Found {len(entries)} skill(s){'' if wanted is None else ' matching pattern'}:", ""]
    for entry in page:
        lines += [
            f"**{entry.name}**{' ✓ [active]' if entry.name in session.skills.used else ''}",
            f"  {entry.description}",
        ]
        if entry.compatibility:
            lines.append(f"  Compatibility: {entry.compatibility}")
        lines.append("")
    if offset + limit < len(entries):
        shown = f"{offset + 1}-{offset + len(page)} of {len(entries)}"
        lines.append(f"Showing {shown}. Use offset={offset + limit} to see more.")
    return "\n".join(lines)


def _count(value: Any, default: int) -> int:
    """Return a whole number that is not negative, or the default for any other value, as Octomind does."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default
