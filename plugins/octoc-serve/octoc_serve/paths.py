"""The MCP path of each agent: `/mcp` and `/agents/NAME/mcp`."""

from __future__ import annotations

from urllib.parse import quote

DEFAULT_PATH = "/mcp"
_BEFORE, _BEHIND = "/agents/", "/mcp"


def path_of(agent: str | None) -> str:
    """Return the URL path of an agent's MCP endpoint; None is the default agent."""
    return DEFAULT_PATH if agent is None else f"{_BEFORE}{quote(agent, safe='')}{_BEHIND}"


def is_mcp(path: str) -> bool:
    """Return whether a decoded path is an MCP endpoint."""
    return path == DEFAULT_PATH or named_by(path) is not None


def named_by(path: str) -> str | None:
    """Return the agent that a decoded path names, or None."""
    long_enough = len(path) > len(_BEFORE) + len(_BEHIND)
    if long_enough and path.startswith(_BEFORE) and path.endswith(_BEHIND):
        return path[len(_BEFORE) : -len(_BEHIND)]
    return None
