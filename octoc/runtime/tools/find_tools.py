"""`find_tools`: search the tools that a session can call, and show tools whole on request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from octoc.formats.own_tools import CALL_MCP_TOOL, FIND_TOOLS
from octoc.json_types import json_type
from octoc.results import ToolResult
from octoc.runtime.arguments.messages import Problem, quoted
from octoc.runtime.arguments.refusal import misfit
from octoc.runtime.tools.search import Ranked
from octoc.runtime.values import SearchHit
from octoc.search import DEFAULT_LIMIT, OCTO
from octoc.tokens import CHARS_PER_TOKEN

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState
    from octoc.runtime.tools.server_call import Outcome

_SHOWN_DESCRIPTION = 200
_DIRECT = "direct (call by name, NOT via call_mcp_tool)"


async def find_tools(session: SessionState, arguments: Mapping[str, Any]) -> Outcome:
    """Answer `find_tools` with the nearest tools, or with the names of all servers if there are none.

    A search starts no server, as a fleet may have dozens without a snapshot, each a program to download and run.
    """
    named = arguments.get("detail")
    if named and session.profile != OCTO:
        return _detail(session, named)
    query = arguments.get("query", "")
    if not isinstance(query, str):
        problem = Problem(path="/query", what=f"expected string, got {json_type(query)}")
        return misfit(FIND_TOOLS, FIND_TOOLS, [problem], session.profile)
    if arguments and "query" not in arguments:
        given = ", ".join(map(quoted, list(arguments)[:3]))
        problem = Problem(path="", what=f"missing required property `query` (string), got {given}")
        return misfit(FIND_TOOLS, FIND_TOOLS, [problem], session.profile)
    if session.loaded.search.is_slow:
        loaded = None
        while session.loaded is not loaded:  # another bundle has other tools by these numbers
            loaded = session.loaded
            result = await asyncio.to_thread(loaded.search.rank, session.tools, query, DEFAULT_LIMIT)
    else:
        result = session.loaded.search.rank(session.tools, query, DEFAULT_LIMIT)
    if not result.hits:
        servers = ", ".join(_servers(session))
        return ToolResult.of_text(f"No tools found matching '{query}'. Available servers: {servers}")
    if session.profile != "octoc":
        answer = [_entry(session, hit, _SHOWN_DESCRIPTION) for hit in result.hits]
        return ToolResult.of_text(_fitting(answer, session.settings.results.max_chars))
    from octoc.runtime.tools.search_answer import FoundTool, as_text  # other profiles need none of it

    catalog = session.loaded.catalog
    found = [
        FoundTool(
            name=hit.hit.alias,
            description=catalog[hit.number].description,
            schema=catalog.schema(hit.number) or {},
            direct=hit.hit.direct,
        )
        for hit in result.hits
    ]
    most = session.settings.results.max_chars
    budget = min(session.loaded.bundle.settings.search.max_tokens * CHARS_PER_TOKEN or most, most)
    return ToolResult.of_text(as_text(found, result.note, budget))


def _entry(session: SessionState, hit: Ranked, description: int | None) -> dict[str, Any]:
    catalog = session.loaded.catalog
    return {
        "name": hit.hit.alias,
        "description": catalog[hit.number].description[:description],
        "parameters": catalog.schema(hit.number) or {},
        "call_via": _DIRECT if hit.hit.direct else CALL_MCP_TOOL,
    }


def _detail(session: SessionState, names: Any) -> Outcome:
    """Answer with the whole description and schema of some tools, and an error for each unknown name."""
    wanted = [names] if isinstance(names, str) else names
    if not isinstance(wanted, list) or not all(isinstance(name, str) for name in wanted):
        problem = Problem(path="/detail", what=f"expected an array of strings, got {json_type(names)}")
        return misfit(FIND_TOOLS, FIND_TOOLS, [problem], session.profile)
    catalog, tools = session.loaded.catalog, session.tools
    shown, reachable = frozenset(tools.visible()), frozenset(tools.offered())
    answer: list[dict[str, Any]] = []
    for name in wanted[:DEFAULT_LIMIT]:
        number = tools.names().resolve(name)
        if not isinstance(number, int) or number not in reachable:
            answer.append({"name": name, "error": "there is no such tool: use a name that find_tools returned"})
            continue
        tool = catalog[number]
        hit = SearchHit(tool=str(tool.id), score=0.0, alias=tools.alias(number), direct=number in shown)
        answer.append(_entry(session, Ranked(number=number, hit=hit), None))
    return ToolResult.of_text(json.dumps(answer, ensure_ascii=False))


def _fitting(answer: list[dict[str, Any]], max_chars: int) -> str:
    """Return the JSON of the first hits that fit the limit, at least one, so that it stays valid JSON."""
    while True:
        text = json.dumps(answer, indent=2, ensure_ascii=False)
        if len(text) <= max_chars or len(answer) == 1:
            return text
        answer = answer[:-1]


def _servers(session: SessionState) -> list[str]:
    named = {session.loaded.catalog[index].id.server for index in session.tools.reachable()}
    named.update(session.tools.unlisted_servers())
    # A builtin server without bound tools has nothing to find.
    return [name for name in session.loaded.servers if name in named and session.loaded.can_connect(name)]
