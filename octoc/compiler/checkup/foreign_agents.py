"""Agents that no client's folder holds: many programs read a folder `agents`, each in a form of its own."""

from __future__ import annotations

import re
from pathlib import Path

from octoc.compiler.checkup.kinds import Known
from octoc.compiler.inputs.claude.plugin import is_claude_s
from octoc.compiler.scope.hosts import HOST_TOOLS

_TOOLS = re.compile(r"^tools:[ \t]*(?P<line>[^\n]*)(?P<below>(?:\n[ \t]*(?:-[ \t]|[ \t]+)[^\n]*)*)", re.MULTILINE)
_SWITCH = re.compile(r"\n[ \t]+[^\s:-][^:\n]*:[ \t]*(?:true|false)\b")
_NAME = re.compile(r"[A-Za-z_][\w./*-]*")


def is_foreign_agent(path: Path, known: Known, text: str) -> bool:
    """Tell whether a file that only its content calls an agent is another program's.

    It lies in no folder, plugin or marketplace of Claude Code, has no `type` of Octo's, and has no `description` or
    lists tools of which no host that octoc knows has one, nor a server.
    """
    front = text.partition("\n---")[0]
    is_agent = known.kind.role == "agents" and path.suffix == ".md"
    if not is_agent or is_claude_s(path) or "\ntype:" in front:
        return False
    return has_foreign_tools(text) or "\ndescription:" not in front


def has_foreign_tools(text: str) -> bool:
    """Tell whether front matter switches tools on and off, or lists some and no host that octoc knows has any."""
    tools = _TOOLS.search(text.partition("\n---")[0])
    if tools is not None and _SWITCH.match(tools["below"]):
        return True
    names = [] if tools is None else _NAME.findall(f"{tools['line']} {tools['below']}")
    return bool(names) and not any(name in HOST_TOOLS or "__" in name or "/" in name for name in names)
