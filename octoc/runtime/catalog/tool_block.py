"""A session's tool block in the form of a model's API, and arguments read back from that form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from octoc.formats.own_tools import FIND_TOOLS, READ_RESULT, own_wires
from octoc.formats.reading import read
from octoc.formats.render import RenderedTool, copied, function_name, shown
from octoc.runtime.catalog.formats import ToolForm
from octoc.runtime.results.fit import reads_results
from octoc.runtime.skills.available import available_skills

if TYPE_CHECKING:
    from octoc.runtime.state import SessionState
    from octoc.runtime.values import SearchHit


def tool_block(session: SessionState, form: ToolForm) -> list[dict[str, Any]]:
    """Return the block, which the caller may change; deferred tools, if any, come last.

    A provider keeps deferred tools out of the prompt, so appending to the visible ones changes nothing before them.
    Raises: BundleFileError.
    """
    scope = session.tools.scope
    own = own_tools(session, form)
    # A block that had no `read_result` from the start keeps its beginning: the tool joins at the end.
    late = [one for one in own if not session.tools.registry.searches and one.name == READ_RESULT]
    block = [copied(one.tool) for one in own if one not in late]
    if form.native and form.format == "openai-responses":
        block = [_client_search(tool) if tool["name"] == FIND_TOOLS else tool for tool in block]
    block += [copied(scope.shown(index, form.format, wire).tool) for index, wire in session.tools.block()]
    if form.native and form.format == "anthropic":
        visible = frozenset(session.tools.visible())
        deferred = (index for index in session.tools.offered() if index not in visible)
        block += [{**copied(scope.shown(index, form.format).tool), "defer_loading": True} for index in deferred]
    block += [copied(one.tool) for one in late]
    if form.format == "gemini":
        return [{"functionDeclarations": block}] if block else []
    return block


def found_tools(session: SessionState, hits: Iterable[SearchHit]) -> list[dict[str, Any]]:
    """Return the blocks that make a provider load the found tools. Raises: ValueError, BundleFileError."""
    form = session.form
    if not form.native:
        raise ValueError('the block that was shown defers no tools natively: ask for `tools(…, deferred="native")`')
    hits = list(hits)
    names = session.tools.names()
    numbers = [names.resolve(hit.alias) for hit in hits if not hit.direct]
    tools = [session.tools.scope.shown(number, form.format) for number in numbers if isinstance(number, int)]
    if form.format == "openai-responses":
        return [{**copied(one.tool), "defer_loading": True} for one in tools]
    if not tools:
        direct = ", ".join(hit.alias for hit in hits)
        return [{"type": "text", "text": f"These can be called already: {direct}" if direct else "No tools found"}]
    return [{"type": "tool_reference", "tool_name": one.name} for one in tools]


def tool_arguments(session: SessionState, index: int, given: Mapping[str, Any], form: ToolForm) -> Mapping[str, Any]:
    """Return a call's arguments as in the tool's own schema, read from the form in which the tool was shown.

    A tool that only the proxy reaches was shown in its own schema. Raises: BundleFileError.
    """
    if form.format == "mcp" or not (form.native or index in session.tools.visible()):
        return given
    return _object(read(session.tools.scope.shown(index, form.format).reading, given), given)


def own_arguments(session: SessionState, name: str, given: Mapping[str, Any], form: ToolForm) -> Mapping[str, Any]:
    """Return the arguments of a call of one of octoc's own tools, as in the tool's own schema."""
    for one in own_tools(session, form):
        if one.name == name:
            return _object(read(one.reading, given), given)
    return given


def alias_of(session: SessionState, name: str, form: ToolForm) -> str:
    """Return the alias of the tool that is shown by a name, which differs if the form's names are narrower."""
    if form.format != "gemini" or not name.startswith("_"):
        return name
    aliases = map(session.tools.alias, session.tools.reachable())
    return next((alias for alias in aliases if alias != name and function_name(alias, "gemini") == name), name)


def _object(value: Any, otherwise: Mapping[str, Any]) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else otherwise


def own_tools(session: SessionState, form: ToolForm) -> tuple[RenderedTool, ...]:
    """Return octoc's own tools as a session shows them; shared, so do not change them."""
    tools = session.tools
    bound = tools.registry.bound
    return _own_shown(
        form,
        session.profile,
        proxy=tools.registry.searches,
        switchable=bool(tools.switchable) and not bound,  # a capability would bring nothing that is not shown
        skills=bool(available_skills(session)),
        # A model without a search may never need it, and its tools can cost less than this one.
        reads_results=reads_results(session) if tools.registry.searches else session.has_stored,
    )


@lru_cache(maxsize=128)
def _own_shown(
    form: ToolForm, profile: str, *, proxy: bool, switchable: bool, skills: bool, reads_results: bool
) -> tuple[RenderedTool, ...]:
    wires = own_wires(
        profile=profile,
        proxy=proxy,
        switchable=switchable,
        skills=skills,
        reads_results=reads_results,
        native=form.native,
    )
    return tuple(shown(wire["name"], wire, form.format) for wire in wires)


def _client_search(tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return the search tool that a host answers. Source: OpenAI API guide, tool search, client-executed."""
    texts = {"description": tool["description"], "parameters": tool["parameters"]}
    return {"type": "tool_search", "execution": "client", **texts}
