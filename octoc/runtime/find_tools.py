"""`find_tools`: searches what a session can call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from octoc.results import ToolResult
from octoc.runtime.arguments import Problem, misfit, quoted, type_word
from octoc.runtime.values import SearchHit
from octoc.runtime.wire import CALL_MCP_TOOL, FIND_TOOLS
from octoc.search.keyword import DEFAULT_LIMIT, Document, rank

if TYPE_CHECKING:
    from octoc.runtime.calls import Outcome
    from octoc.runtime.session import Session

_SHOWN_DESCRIPTION = 200
_DIRECT = "direct (call by name, NOT via call_mcp_tool)"


def search(session: Session, query: str, limit: int = DEFAULT_LIMIT) -> list[tuple[int, SearchHit]]:
    """Return (number, hit) of the tools that fit best, by Octo's rule over the tools' own names and descriptions."""
    catalog = session.generation.catalog
    shown = set(session.surface.visible())
    documents = []
    for index in session.surface.reachable():
        tool = catalog[index]
        documents.append(Document(key=index, name=tool.id.tool, description=tool.description))
    found = []
    for hit in rank(query, documents, limit):
        tool = catalog[hit.key]
        direct = hit.key in shown
        found.append((hit.key, SearchHit(tool=str(tool.id), score=float(hit.score), alias=tool.alias, direct=direct)))
    return found


async def find_tools(session: Session, arguments: Mapping[str, Any]) -> Outcome:
    """Answer `find_tools`: a JSON array of what was found, or the servers that there are.

    A search starts no server: a fleet may have dozens without a snapshot, each a program that is fetched and run.
    """
    query = arguments.get("query", "")
    if not isinstance(query, str):
        problem = Problem(path="/query", what=f"expected string, got {type_word(query)}")
        return misfit(FIND_TOOLS, FIND_TOOLS, [problem], session.profile)
    if arguments and "query" not in arguments:
        given = ", ".join(map(quoted, list(arguments)[:3]))
        problem = Problem(path="", what=f"missing required property `query` (string), got {given}")
        return misfit(FIND_TOOLS, FIND_TOOLS, [problem], session.profile)
    catalog = session.generation.catalog
    answer = []
    for index, hit in search(session, query):
        tool = catalog[index]
        answer.append({
            "name": tool.alias,
            "description": tool.description[:_SHOWN_DESCRIPTION],
            "parameters": catalog.wire(index).get("inputSchema", {}),
            "call_via": _DIRECT if hit.direct else CALL_MCP_TOOL,
        })  # fmt: skip
    if answer:
        if session.profile == "octoc":
            # Cut as JSON, with a notice of what is not there.
            return ToolResult.of_text(json.dumps(answer, indent=2, ensure_ascii=False))
        return ToolResult.of_text(_fitting(answer, session.generation.bundle.settings.results.max_chars))
    return ToolResult.of_text(f"No tools found matching '{query}'. Available servers: {', '.join(_servers(session))}")


def _fitting(answer: list[dict[str, Any]], max_chars: int) -> str:
    """Return the JSON of the first hits that fit the limit, at least one: a cut array would be no JSON any more."""
    while True:
        text = json.dumps(answer, indent=2, ensure_ascii=False)
        if len(text) <= max_chars or len(answer) == 1:
            return text
        answer = answer[:-1]


def _servers(session: Session) -> list[str]:
    named = {session.generation.catalog[index].id.server for index in session.surface.reachable()}
    named.update(session.surface.unlisted_servers())
    # A builtin server that nothing is bound to has no tool to look for.
    return [name for name in session.generation.servers if name in named and session.generation.can_connect(name)]
