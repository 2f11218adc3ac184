"""What the template of an agent's page shows, worked out from the gateway's values."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from octoc_dashboard.arguments import argument_rows
from octoc_dashboard.formats import counted
from octoc_dashboard.routing import routing_context

if TYPE_CHECKING:
    from octoc.plugin import AgentOverview, AgentSummary, BackendView, RecentCall, RoutedMessage, ToolFilter

MAX_MESSAGE_CHARS = 10_000
MAX_CLIENTS = 100
MAX_TOTALS = 50
REFRESH_S = 10
"""The seconds between two loads of a page that refreshes itself."""


def agent_context(
    agent: AgentOverview,
    agents: Sequence[str],
    tools: ToolFilter,
    routed: RoutedMessage | None,
    *,
    summaries: Sequence[AgentSummary] = (),
    refresh_s: int = 0,
) -> dict[str, Any]:
    """Return the values of `agent.html`.

    Args:
        agents: the names to choose from; `summaries` are those of them that a table compares.
        tools: the filter of the tools.
        refresh_s: seconds after which the browser loads the page again; 0 never.
    """
    clients = list(reversed(agent.clients))[:MAX_CLIENTS]
    return {
        "agent": agent,
        "agents": agents,
        "tools": tools,
        "clients": clients,
        "calls": [_call(call) for call in agent.calls],
        "backends": [_backend(one) for one in agent.backends],
        "totals": [agent.totals, *agent.by_tool[:MAX_TOTALS]],
        "saved": max(0, agent.all_tokens - agent.prompt_tokens),
        "summaries": sorted(summaries, key=lambda one: (-one.tools, one.name)),
        "refresh_s": refresh_s,
        "refreshing": _to(agent.name, refresh_s=REFRESH_S),
        "groups": [
            (server, [(tool, argument_rows(tool.schema)) for tool in group])
            for server, group in itertools.groupby(agent.tools, lambda tool: tool.server)
        ],
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


def _backend(backend: BackendView) -> dict[str, Any]:
    """Return a row of the table of servers: the state in words, with what to do about it."""
    failure = f": {backend.last_failure.replace('_', ' ')}" if backend.last_failure else ""
    words = {
        "up": "up",
        "idle": "not connected; the next call connects it",
        "starting": "starting",
        "failing": f"failing{failure}",
        "paused": f"breaker open for {backend.retry_s:.0f} s{failure}",
        "missing-variable": f"missing variable: {', '.join(backend.missing)}",
        "unbound": "no tools are bound to it",
    }
    kind = {"up": "good", "idle": "calm", "starting": "calm"}.get(backend.state, "bad")
    return {"server": backend.server, "state": words[backend.state], "kind": kind, "tools": backend.tools}


def _call(call: RecentCall) -> dict[str, Any]:
    words = {"ok": "ok", "error": "the tool’s own error"}.get(call.outcome, call.outcome.replace("_", " "))
    return {
        "ended": dt.datetime.fromtimestamp(call.at, dt.UTC),
        "tool": call.tool,
        "seconds": call.seconds,
        "outcome": words,
        "good": call.outcome == "ok",
        "why": call.why,
        "client": call.client,
    }


def _tool_count(agent: AgentOverview, tools: ToolFilter) -> str:
    text = f"{counted(agent.matching, 'tool')}{' with these words' if tools.words else ''}"
    if agent.tools and len(agent.tools) < agent.matching:
        text += f", {tools.start + 1:,} to {tools.start + len(agent.tools):,} of them here"
    return text


def _to(agent: str, words: str = "", start: int = 0, *, refresh_s: int = 0) -> str:
    query: dict[str, str | int] = {"agent": agent}
    if refresh_s:
        query["refresh"] = refresh_s
    if words:
        query["words"] = words
    if start:
        query["start"] = start
    return f"/?{urlencode(query, errors='replace')}{'#tools' if words or start else ''}"
