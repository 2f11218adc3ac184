"""Repairs answers before the SDK validates them: an invalid tool or content part does not fail the whole answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping
from contextvars import ContextVar
from types import NoneType
from typing import TYPE_CHECKING, Any

import attrs
import mcp_types
from mcp_types.methods import validate_server_result
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from octoc.plugin.toolkit import because, plain
from octoc_transport_mcp.outbound import Sender

if TYPE_CHECKING:
    from mcp.shared.dispatcher import CallOptions, Outbound

log = logging.getLogger(__name__)

MAX_NAME_CHARS = 100
META_LEFT_OUT = "octoc/leftOut"
"""Key in the `_meta` of a list: index of each left-out tool, as text -> reason. A server's own value is replaced."""
TOOLS_AT_ONCE = 100
"""Tools that the SDK validates in one step of the event loop: about 10 ms of work."""
REST_CURSOR = "octoc/rest"
"""Cursor for the next part of a page that has arrived. It is never sent: the tools are in `REST`."""
OFFERS: Mapping[str, tuple[str, type[Any]]] = {
    "resources/list": ("resources", mcp_types.ListResourcesResult),
    "resources/templates/list": ("resourceTemplates", mcp_types.ListResourceTemplatesResult),
    "prompts/list": ("prompts", mcp_types.ListPromptsResult),
}
"""Method -> the key of the list in its result, and the SDK's type of the result."""
_CACHED = frozenset({*OFFERS, "resources/read"})
_RESULT_TYPE = "resultType"
_STRUCTURED = "structuredContent"
_UNCACHED: Mapping[str, Any] = {"ttlMs": 0, "cacheScope": "private"}
"""Cache fields for a list of a server that sends none; octoc does not use them."""


@attrs.define(eq=False)
class PageRest:
    """The rest of one page of tools: the server's answer, and the tools that the SDK has not validated yet."""

    answer: dict[str, Any] = attrs.field(factory=dict)
    tools: list[Any] = attrs.field(factory=list)


REST: ContextVar[PageRest | None] = ContextVar("octoc_mcp_page_rest", default=None)
"""The page of the listing that runs in this task; without a listing, a page is validated in one step."""


class LenientAnswers(Sender):
    """Passes each answer of `server` through `lenient`; `version` is the session's protocol version."""

    def __init__(self, inner: Outbound, server: str, version: str) -> None:
        super().__init__(inner)
        self._server = server
        self._version = version

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises: MCPError."""
        rest = REST.get() if method == "tools/list" else None
        if rest is not None and rest.tools:
            await asyncio.sleep(0)  # let other tasks run between two parts of a page
            result = rest.answer
        else:
            result = await self._inner.send_raw_request(method, params, opts)
        if rest is not None:
            result = _first_of(result, rest)
        return lenient(method, result, self._server, self._version)


def _first_of(result: dict[str, Any], rest: PageRest) -> dict[str, Any]:
    """Return a page with only its next tools, and keep the others in `rest`."""
    tools = rest.tools or result.get("tools")
    if not isinstance(tools, list) or len(tools) <= TOOLS_AT_ONCE:
        rest.tools = []
        return {**result, "tools": tools} if isinstance(tools, list) else result
    rest.answer, rest.tools = result, tools[TOOLS_AT_ONCE:]
    return {**result, "tools": tools[:TOOLS_AT_ONCE], "nextCursor": REST_CURSOR}


def lenient(method: str, result: dict[str, Any], server: str, version: str) -> dict[str, Any]:
    """Return a result without the parts for which the SDK would refuse the whole result.

    A modern result without a type is complete, by the specification. A tool that the protocol `version` does not allow
    is left out of a list. A text replaces a content part or structured content that it does not allow.
    """
    if version in MODERN_PROTOCOL_VERSIONS:
        result = completed(result)
        if method in _CACHED:
            result = {**_UNCACHED, **result}
    if method in OFFERS:
        return _offered(method, result, server, version)
    tools, parts = result.get("tools"), result.get("content")
    if method == "tools/list" and isinstance(tools, list):
        return _listed(result, tools, server, version)
    if method == "tools/call":
        if isinstance(parts, list) and not all(map(_is_text, parts)):
            result = {**result, "content": [_part(part, version) for part in parts]}
        return _structured(result, version)
    return result


def _validate(
    method: str,
    model: type[Any],
    result: dict[str, Any],
    version: str,
) -> None:
    """Validate a result as the SDK does, by `version` and by the SDK's own types. Raises: ValueError."""
    if version in MODERN_PROTOCOL_VERSIONS:
        result = {**result, _RESULT_TYPE: "complete", **_UNCACHED}
    with contextlib.suppress(KeyError):  # the SDK has no types for this version
        validate_server_result(method, version, result)
    model.model_validate(result, by_name=False)


def completed(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with its type. Source: MCP 2026-07-28: an absent `resultType` is `complete`."""
    return result if _RESULT_TYPE in result else {**result, _RESULT_TYPE: "complete"}


def _without_null(tool: Any) -> Any:
    """Return a tool without an `outputSchema` that is null, which declares nothing."""
    if isinstance(tool, dict) and "outputSchema" in tool and tool["outputSchema"] is None:
        return {key: value for key, value in tool.items() if key != "outputSchema"}
    return tool


def _listed(result: dict[str, Any], tools: list[Any], server: str, version: str) -> dict[str, Any]:
    usable: list[Any] = []
    left_out: dict[str, str] = {}
    for index, tool in enumerate(map(_without_null, tools)):
        why = _why_unusable(tool, version)
        if why:
            left_out[str(index)] = why
            log.warning("server `%s` lists a tool that cannot be used, which is left out: it %s", server, why)
        else:
            usable.append(tool)
    result = {**(_UNCACHED if version in MODERN_PROTOCOL_VERSIONS else {}), **result, "tools": usable}
    meta = result.get("_meta")
    if left_out or (isinstance(meta, dict) and META_LEFT_OUT in meta):
        result["_meta"] = {**(meta if isinstance(meta, dict) else {}), META_LEFT_OUT: left_out}
    return result


def _offered(method: str, result: dict[str, Any], server: str, version: str) -> dict[str, Any]:
    """Return a list of resources, templates or prompts without those that the SDK would refuse the list for."""
    key, model = OFFERS[method]
    if not isinstance(result.get(key), list):
        return result
    usable = []
    for number, item in enumerate(result[key], 1):
        try:
            _validate(method, model, {key: [item]}, version)
        except ValueError as error:
            log.warning("server `%s` answers `%s` with an entry that is left out: number %d", server, method, number)
            log.debug("it cannot be read%s", because(error))
        else:
            usable.append(item)
    return {**result, key: usable}


def _why_unusable(tool: Any, version: str) -> str:
    """Return why a tool cannot be used, as the words after "it"; empty if it can be used."""
    if not isinstance(tool, dict):
        return "is not an object"
    name = tool.get("name")
    if not isinstance(name, str) or not name.strip():
        return "has no name"
    try:
        mcp_types.Tool.model_validate(tool, by_name=False)  # its messages are clearer than those of the next check
        _validate("tools/list", mcp_types.ListToolsResult, {"tools": [tool]}, version)
    except ValueError as error:
        why = because(error).replace("`tools/0/", "`", 1)
        return f"has the name `{plain(name)[:MAX_NAME_CHARS]}` and cannot be read{why}"
    return ""


def _structured(result: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a result without structured content that its version forbids: before 2026-07-28 all but objects."""
    if isinstance(result.get(_STRUCTURED), (dict, NoneType)) or not isinstance(result.get("content", []), list):
        return result
    try:
        _validate("tools/call", mcp_types.CallToolResult, {"content": [], _STRUCTURED: result[_STRUCTURED]}, version)
    except ValueError:
        text = {"type": "text", "text": "[octoc] the structured content cannot be read and was left out"}
        rest = {key: value for key, value in result.items() if key != _STRUCTURED}
        return {**rest, "content": [*result.get("content", []), text]}
    return result


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.keys() == {"type", "text"} and isinstance(part["text"], str)


def _part(part: Any, version: str) -> Any:
    try:
        _validate("tools/call", mcp_types.CallToolResult, {"content": [part]}, version)
    except ValueError:
        kind = part.get("type") if isinstance(part, dict) else None
        is_name = isinstance(kind, str) and kind.isprintable()
        shown = f"of type `{str(kind)[:MAX_NAME_CHARS]}`" if is_name else "without a type"
        return {"type": "text", "text": f"[octoc] a content part {shown} cannot be read and was left out"}
    return part
