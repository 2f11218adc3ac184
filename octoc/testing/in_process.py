"""Real MCP servers in this process: the SDK's server and client without a process, socket or file between them."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from octoc.plugin.hookspecs import hookimpl
from octoc.plugin.protocols import ConnectFailedError, Connection, Embedder, Host, PythonTool, ServerTarget, Transport
from octoc.results import ContentPart, ListedTool, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc.testing.embedder import fake_embedder

if TYPE_CHECKING:
    from mcp import Client
    from mcp.server import Server
    from mcp_types import CallToolResult

CLOSE_S = 5.0


def echo_tool(name: str = "echo") -> PythonTool:
    """Return a tool that answers with its arguments."""
    return PythonTool(
        name=name,
        description="Answer with the arguments",
        input_schema={"type": "object", "properties": {"text": {"type": "string"}}},
        handler=dict,
    )


def in_process_transport(
    servers: Mapping[str, Iterable[PythonTool]] | Iterable[PythonTool], *, page_size: int | None = None
) -> Transport:
    """Return a transport to SDK servers that live in this process.

    Args:
        servers: tools by the name of their server, for targets of those names; or tools that every target has. A tool's
            handler returns text, a JSON value or a ToolResult, at once or awaited; what it raises is an error result.
        page_size: how many tools a page of `tools/list` has; all by default.
    """
    by_name = {name: tuple(tools) for name, tools in servers.items()} if isinstance(servers, Mapping) else None
    shared = () if isinstance(servers, Mapping) else tuple(servers)
    return _Transport(by_name, shared, page_size)


@attrs.frozen
class InProcessPlugin:
    """A plugin object for `plugins_of`: in-process servers of every kind, and the fake embedder under every name."""

    servers: Mapping[str, Iterable[PythonTool]] = attrs.field(factory=dict)

    @hookimpl
    def octoc_make_transport(self, kind: str) -> Transport | None:
        """Return the in-process transport, whatever the kind."""
        return in_process_transport(self.servers)

    @hookimpl
    def octoc_make_embedder(
        self, name: str, settings: Mapping[str, str], files: Mapping[str, bytes] | None
    ) -> Embedder | None:
        """Return the fake embedder, whatever the name."""
        return fake_embedder(name, files)


@attrs.frozen
class BuiltinTools:
    """A plugin object for `plugins_of` with the tools of one builtin server: their names, and what each answers."""

    server: str
    texts: Mapping[str, str]

    @hookimpl
    def octoc_tools(self, server: str, target: ServerTarget) -> list[PythonTool] | None:
        """Return the tools, each described by its name, if the server is this one."""
        if server != self.server:
            return None
        return [
            PythonTool(name=name, description=name, input_schema={"type": "object"}, handler=partial(_text, text))
            for name, text in self.texts.items()
        ]


def _text(text: str, _: Mapping[str, Any]) -> str:
    return text


@attrs.frozen
class _Transport:
    by_name: Mapping[str, tuple[PythonTool, ...]] | None
    shared: tuple[PythonTool, ...]
    page_size: int | None

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Connection:
        """Connect to the server of the target's name. Raises: ConnectFailedError."""
        tools = self.shared if self.by_name is None else self.by_name.get(target.name)
        if tools is None:
            raise ConnectFailedError(f"no in-process server is called `{target.name}`")
        connection = _Connection(target.name, _server(target.name, tools, self.page_size))
        await connection.open()
        return connection


def _server(name: str, tools: tuple[PythonTool, ...], page_size: int | None) -> Server[Any]:
    import mcp_types as types
    from mcp.server import Server
    from mcp.shared.exceptions import MCPError

    by_name = {tool.name: tool for tool in tools}
    size = page_size or max(len(tools), 1)

    async def on_list_tools(_: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        start = int(params.cursor) if params is not None and params.cursor is not None else 0
        page = [
            types.Tool(name=tool.name, description=tool.description, input_schema=dict(tool.input_schema))
            for tool in tools[start : start + size]
        ]
        more = start + size < len(tools)
        return types.ListToolsResult(tools=page, next_cursor=str(start + size) if more else None)

    async def on_call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = by_name.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        return await _answer(tool, params.arguments or {})

    return Server(name, version="1", on_list_tools=on_list_tools, on_call_tool=on_call_tool)


async def _answer(tool: PythonTool, arguments: Mapping[str, Any]) -> CallToolResult:
    import mcp_types as types

    try:
        value = tool.handler(arguments)
        if inspect.isawaitable(value):
            value = await value
    except Exception as error:  # noqa: BLE001  # what a tool raises is its answer, as in every MCP server
        return types.CallToolResult(content=[types.TextContent(text=f"{type(error).__name__}: {error}")], is_error=True)
    if isinstance(value, ToolResult):
        wire = {
            "content": [part.data or {"type": "text", "text": part.text} for part in value.content],
            "structuredContent": value.structured,
            "isError": value.is_error,
        }
        return types.CallToolResult.model_validate(wire)
    if isinstance(value, str):
        return types.CallToolResult(content=[types.TextContent(text=value)])
    text = json.dumps(value, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=value)


class _Connection:
    """The SDK's client must be closed by the task that opened it: `_owner`, which lives as long as the connection."""

    def __init__(self, name: str, server: Server[Any]) -> None:
        self._name = name
        self._server = server
        self._client: Client | None = None
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self._owner = asyncio.create_task(self._own())
        await self._ready.wait()
        if self._client is None:
            await self._owner  # raises what went wrong
        await self.list_tools()  # the SDK checks a tool's answers by its schema, and lists again where it knows none

    async def _own(self) -> None:
        from mcp import Client

        try:
            async with Client(self._server, cache=None) as client:
                self._client = client
                self._ready.set()
                await self._stop.wait()
        finally:
            self._client = None
            self._ready.set()

    @property
    def alive(self) -> bool:
        return self._client is not None and not self._stop.is_set()

    async def list_tools(self) -> ServerListing:
        client = self._client
        if client is None or not self.alive:
            raise ConnectFailedError(f"the connection to `{self._name}` is closed")
        tools: list[ListedTool] = []
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            for tool in page.tools:
                wire = tool.model_dump(by_alias=True, exclude_none=True, mode="json")
                tools.append(ListedTool(name=tool.name, description=tool.description or "", wire=wire))
            cursor = page.next_cursor
            if cursor is None:
                break
        info = client.server_info
        return ServerListing(
            server_info={} if info is None else info.model_dump(by_alias=True, exclude_none=True, mode="json"),
            protocol_version=client.protocol_version,
            instructions=client.instructions,
            tools=tuple(tools),
        )

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        import mcp_types as types
        from mcp.shared.exceptions import MCPError

        client = self._client
        if client is None or not self.alive:
            message = f"the connection to `{self._name}` is closed"
            return ToolFailure(kind="connection_lost", message=message, text=message)
        try:
            async with asyncio.timeout(call.timeout_s):
                answer = await client.call_tool(call.tool, dict(call.arguments))
        except TimeoutError:
            message = f"`{self._name}` did not answer `{call.tool}` within {call.timeout_s:g} s"
            return ToolFailure(kind="timeout", message=message, text=message)
        except MCPError as error:
            if error.code == types.INVALID_PARAMS:
                message = f"`{self._name}` has no tool `{call.tool}`"
                return ToolFailure(kind="not_found", message=message, text=message)
            message = f"the connection to `{self._name}` is closed"
            return ToolFailure(kind="connection_lost", message=message, text=message)
        return ToolResult(
            content=tuple(map(_part, answer.content)),
            structured=answer.structured_content,
            is_error=bool(answer.is_error),
        )

    async def close(self) -> None:
        self._stop.set()
        if self._owner is not None:
            await asyncio.wait((self._owner,), timeout=CLOSE_S)


def _part(block: Any) -> ContentPart:
    if block.type == "text":
        return ContentPart(type="text", text=block.text)
    return ContentPart(type=block.type, data=block.model_dump(by_alias=True, exclude_none=True, mode="json"))
