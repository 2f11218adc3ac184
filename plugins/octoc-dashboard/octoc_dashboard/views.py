"""What the template of an agent's page shows, worked out from the gateway's values."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from octoc_dashboard.formats import counted
from octoc_dashboard.routing import routing_context

if TYPE_CHECKING:
    from octoc.plugin import AgentOverview, RecentCall, RoutedMessage, ToolFilter

MAX_MESSAGE_CHARS = 10_000
MAX_CLIENTS = 100


def agent_context(
    agent: AgentOverview, agents: Sequence[str], tools: ToolFilter, routed: RoutedMessage | None
) -> dict[str, Any]:
    """Return the values of `agent.html`. `agents` are the names to choose from, `tools` is the filter of the tools."""
    clients = list(reversed(agent.clients))[:MAX_CLIENTS]
    return {
        "agent": agent,
        "agents": agents,
        "tools": tools,
        "clients": clients,
        "calls": [_call(call) for call in agent.calls],
        "groups": [(server, list(group)) for server, group in itertools.groupby(agent.tools, lambda tool: tool.server)],
        "tool_count": _tool_count(agent, tools),
        "earlier": _to(agent.name, tools.words, max(0, tools.start - tools.limit)) if tools.start > 0 else None,
        "further": _to(agent.name, tools.words, tools.start + tools.limit)
        if tools.start + tools.limit < agent.matching
        else None,
        "here": _to(agent.name),
        "now": dt.datetime.now(dt.UTC),
        "message": "" if routed is None else routed.message,
        "max_message_chars": MAX_MESSAGE_CHARS,
        "routed": None if routed is None else routing_context(routed),
    }


def _call(call: RecentCall) -> dict[str, Any]:
    words = {"ok": "ok", "error": "the tool’s own error"}.get(call.outcome, call.outcome.replace("_", " "))
    return {
        "ended": dt.datetime.fromtimestamp(call.at, dt.UTC),
        "tool": call.tool,
        "seconds": call.seconds,
        "outcome": words,
        "good": call.outcome == "ok",
    }


def _tool_count(agent: AgentOverview, tools: ToolFilter) -> str:
    text = f"{counted(agent.matching, 'tool')}{' with these words' if tools.words else ''}"
    if agent.tools and len(agent.tools) < agent.matching:
        text += f", {tools.start + 1:,} to {tools.start + len(agent.tools):,} of them here"
    return text


def _to(agent: str, words: str = "", start: int = 0) -> str:
    query: dict[str, str | int] = {"agent": agent}
    if words:
        query["words"] = words
    if start:
        query["start"] = start
    return f"/?{urlencode(query, errors='replace')}{'#tools' if words or start else ''}"
