"""Where each agent's MCP is: `/mcp`, and `/agents/NAME/mcp`."""

from __future__ import annotations

from urllib.parse import quote

DEFAULT_PATH = "/mcp"
_BEFORE, _BEHIND = "/agents/", "/mcp"


def path_of(agent: str | None) -> str:
    """Return where an agent's MCP is, as it stands in an address; None is the one that a request need not name."""
    return DEFAULT_PATH if agent is None else f"{_BEFORE}{quote(agent, safe='')}{_BEHIND}"


def is_mcp(path: str) -> bool:
    """Tell whether a path, decoded, is one where MCP may be."""
    return path == DEFAULT_PATH or named_by(path) is not None


def named_by(path: str) -> str | None:
    """Return the agent that a path, decoded, names; None where it names none."""
    long_enough = len(path) > len(_BEFORE) + len(_BEHIND)
    if long_enough and path.startswith(_BEFORE) and path.endswith(_BEHIND):
        return path[len(_BEFORE) : -len(_BEHIND)]
    return None
