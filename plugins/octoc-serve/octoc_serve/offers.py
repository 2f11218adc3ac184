"""Resources, prompts and completions of an agent, as clients ask for them. What the agent may not use is unknown."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from octoc.plugin import ToolFailure
from octoc_serve.client_session import lacking

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.context import ServerRequestContext

    from octoc_serve.client_session import ClientSession

    Context = ServerRequestContext[Any, Any]
    ClientOf = Callable[[Context], AbstractAsyncContextManager[ClientSession]]

OFFERED = frozenset({"resources", "prompts", "completions", "logging"})
"""The capabilities that depend on the agent."""
PAGE = 500
"""Maximum number of entries in one page of a list."""
STEADY_TTL_MS = 60_000
"""Milliseconds for which a client may reuse a list that no message and no call changes."""
PRIVATE: Final = "private"
"""The scope of every cache: another agent may not have the same."""

RESOURCE_NOT_FOUND = -32002
"""The code for an unknown resource in the handshake era. Source: MCP 2025-11-25, resources."""
T = TypeVar("T")


def capabilities(has_resources: bool, has_prompts: bool, features: Collection[str]) -> dict[str, dict[str, Any]]:  # noqa: FBT001  # two facts of one kind
    """Return the capabilities of an agent with these offers and features of servers, in wire form."""
    declared: dict[str, dict[str, Any]] = {}
    if has_resources:
        declared["resources"] = {"listChanged": True, "subscribe": "subscribe" in features}
    if has_prompts:
        declared["prompts"] = {"listChanged": True}
    if declared and "completions" in features:
        declared["completions"] = {}
    if "logging" in features:
        declared["logging"] = {}
    return declared


class OfferHandlers:
    """Answers requests about resources, prompts and log messages.

    Args:
        client: yields the session of a request's client, and keeps it meanwhile.
    """

    def __init__(self, client: ClientOf) -> None:
        self._client = client

    def register(self, server: Server[Any]) -> None:
        """Add the handlers to the SDK's server."""
        page = types.PaginatedRequestParams
        server.add_request_handler("resources/list", page, self._resources)
        server.add_request_handler("resources/templates/list", page, self._templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self._read)
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self._subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self._unsubscribe)
        server.add_request_handler("prompts/list", page, self._prompts)
        server.add_request_handler("prompts/get", types.GetPromptRequestParams, self._get)
        server.add_request_handler("completion/complete", types.CompleteRequestParams, self._complete)
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)

    async def _resources(self, context: Context, params: types.PaginatedRequestParams) -> types.ListResourcesResult:
        async with self._client(context) as client:
            require(client, context, "resources")
            entries, cursor = page_of(client.session.resources(), params.cursor)
        resources = [types.Resource.model_validate(one.wire, by_name=False) for one in entries]
        return types.ListResourcesResult(
            resources=resources, next_cursor=cursor, ttl_ms=STEADY_TTL_MS, cache_scope=PRIVATE
        )

    async def _templates(
        self, context: Context, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        async with self._client(context) as client:
            require(client, context, "resources")
            entries, cursor = page_of(client.session.resource_templates(), params.cursor)
        templates = [types.ResourceTemplate.model_validate(one.wire, by_name=False) for one in entries]
        return types.ListResourceTemplatesResult(
            resource_templates=templates, next_cursor=cursor, ttl_ms=STEADY_TTL_MS, cache_scope=PRIVATE
        )

    async def _prompts(self, context: Context, params: types.PaginatedRequestParams) -> types.ListPromptsResult:
        async with self._client(context) as client:
            require(client, context, "prompts")
            entries, cursor = page_of(client.session.prompts(), params.cursor)
        prompts = [types.Prompt.model_validate(one.wire, by_name=False) for one in entries]
        return types.ListPromptsResult(prompts=prompts, next_cursor=cursor, ttl_ms=STEADY_TTL_MS, cache_scope=PRIVATE)

    async def _read(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        uri = str(params.uri)
        async with self._client(context) as client:
            require(client, context, "resources")
            answer = await client.request(context.method, uri, {}, params, context)
        if isinstance(answer, types.InputRequiredResult):
            return answer
        return types.ReadResourceResult.model_validate(wire_of(answer, context, uri), by_name=False)

    async def _get(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        async with self._client(context) as client:
            require(client, context, "prompts")
            answer = await client.request(context.method, params.name, params.arguments or {}, params, context)
        if isinstance(answer, types.InputRequiredResult):
            return answer
        return types.GetPromptResult.model_validate(wire_of(answer, context), by_name=False)

    async def _complete(self, context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        asked = params.model_dump(by_alias=True, exclude_none=True, mode="json")
        known = (asked.get("context") or {}).get("arguments")
        async with self._client(context) as client:
            require(client, context, "completions")
            answer = await client.session.complete(asked["ref"], asked["argument"], known)
        if isinstance(answer, ToolFailure):
            raise error_of(answer, context)
        values = list(answer.values)
        return types.CompleteResult(
            completion=types.Completion(values=values, total=answer.total, has_more=answer.has_more)
        )

    async def _subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        uri = str(params.uri)
        async with self._client(context) as client:
            require(client, context, "resources")
            failed = await client.subscriptions.begin(uri)
        if failed is not None:
            raise error_of(failed, context, uri)
        return types.EmptyResult()

    async def _unsubscribe(self, context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        async with self._client(context) as client:
            require(client, context, "resources")
            await client.subscriptions.end(str(params.uri))
        return types.EmptyResult()

    async def _set_level(self, context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        async with self._client(context) as client:
            require(client, context, "logging")
            client.log_level = params.level
        return types.EmptyResult()


def require(client: ClientSession, context: Context, capability: str) -> None:
    """Raises: MCPError, as for a server without a capability, if the agent has nothing for it."""
    session = client.session
    has_resources = bool(session.resources() or session.resource_templates())
    if capability not in capabilities(has_resources, bool(session.prompts()), session.server_features):
        raise MCPError(types.METHOD_NOT_FOUND, "Method not found", context.method)


def page_of(entries: Sequence[T], cursor: str | None) -> tuple[Sequence[T], str | None]:
    """Return a page of a list, and the cursor of the next one. Raises: MCPError for an unknown cursor."""
    start = 0 if cursor is None else int(cursor) if cursor.isascii() and cursor.isdigit() and len(cursor) < 10 else -1
    if start < 0 or (start and start >= len(entries)):
        raise MCPError(types.INVALID_PARAMS, "this cursor is unknown: the list may have changed")
    end = start + PAGE
    return entries[start:end], str(end) if end < len(entries) else None


def wire_of(answer: Any, context: Context, uri: str | None = None) -> dict[str, Any]:
    """Return an answer in wire form, for this client alone to cache. Raises: MCPError for a failure."""
    if isinstance(answer, ToolFailure):
        raise error_of(answer, context, uri)
    wire = {key: value for key, value in answer.wire.items() if key != "_meta"}
    meta = {} if answer.handle is None else {"_meta": {"octoc/handle": answer.handle}}
    return {**wire, **meta, **({"cacheScope": PRIVATE} if uri is not None else {})}


def error_of(failed: ToolFailure, context: Context, uri: str | None = None) -> MCPError:
    """Return the JSON-RPC error for a failure; that for an unknown resource depends on the era."""
    modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
    if modern and failed.needs:
        return lacking(failed)
    if failed.kind == "not_found":
        code = types.INVALID_PARAMS if modern or uri is None else RESOURCE_NOT_FOUND
    elif failed.kind == "bad_request":
        code = failed.rpc_code or types.INVALID_PARAMS
    else:
        code = types.INTERNAL_ERROR
    data: dict[str, Any] = {"octoc/kind": failed.kind} if uri is None else {"uri": uri, "octoc/kind": failed.kind}
    if failed.retry_after_s is not None:
        data["octoc/retryAfter"] = failed.retry_after_s
    return MCPError(code, failed.message, data)
