"""One live connection: a task of its own opens and closes the SDK's client, and any task may call through it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import mcp_types
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from octoc import __version__
from octoc.plugin.protocols import Connection, ConnectionFailed, ServerTarget
from octoc.results import ContentPart, ListedTool, ServerListing, ToolCall, ToolFailure, ToolResult
from octoc_transport_mcp.failures import (
    ending,
    failure,
    leaf,
    not_spawned,
    not_started,
    of_protocol_error,
    one_line,
)
from octoc_transport_mcp.http import LastStatus, http_streams, sse_streams
from octoc_transport_mcp.process import ServerProcess, process_streams

CLOSE_S = 6.0
"""The longest that `close` waits: a process is gone after 4 s, and what is left is the SDK's."""
EXIT_CODE_S = 0.2
"""How long a failure waits to learn the exit code of a server whose stdout has ended."""


async def open_connection(kind: str, target: ServerTarget) -> Connection:
    """Connect to `target` within its time-out. Raises: ConnectionFailed, with all that was started stopped again."""
    if target.auth:
        raise ConnectionFailed(
            f"the `auth` of `{target.name}` is not understood by this transport: put its credential into `headers`"
        )
    missing = (
        "command" if kind == "stdio" and not target.command else "url" if kind != "stdio" and not target.url else ""
    )
    if missing:
        raise ConnectionFailed(f"`{target.name}` has no `{missing}` to connect to")
    connection = McpConnection(kind, target)
    await connection.open()
    return connection


class McpConnection:
    """A `Connection`, owned by a task of its own.

    The SDK's client must be closed by the task that opened it: that is `_owner`, which lives as long as the connection.
    Calls do not pass through it: the SDK matches answers to calls by id, from whatever task they come.
    """

    def __init__(self, kind: str, target: ServerTarget) -> None:
        self._kind = kind
        self._target = target
        self._process: ServerProcess | None = None
        self._status = LastStatus()
        self._client: Client | None = None
        self._lost = False
        self._stop = asyncio.Event()
        self._ready = asyncio.Event()
        self._owner: asyncio.Task[None] | None = None
        self._listed: set[str] = set()
        self._learned = False
        self._learning = asyncio.Lock()

    async def open(self) -> None:
        """Start the owner and wait until the server answered. Raises: ConnectionFailed."""
        self._owner = owner = asyncio.create_task(self._own(), name=f"octoc: {self._target.name}")
        ready = asyncio.create_task(self._ready.wait())
        try:
            await asyncio.wait((owner, ready), timeout=self._target.timeout_s, return_when=asyncio.FIRST_COMPLETED)
            if self._client is None and not owner.done():
                message = self._silence()  # before the end, of which the process's state would tell
                await self._abandon()
                raise ConnectionFailed(message)
        except asyncio.CancelledError:
            await self._abandon()
            raise
        finally:
            ready.cancel()
        if owner.done():
            error = None if owner.cancelled() else owner.exception()
            raise error if isinstance(error, ConnectionFailed) else ConnectionFailed(f"connecting failed: {error}")

    async def _own(self) -> None:
        try:
            if self._kind == "stdio":
                self._process = await ServerProcess.start(self._target)
        except (OSError, ValueError) as error:
            raise ConnectionFailed(not_spawned(error, self._target)) from None
        try:
            client = Client(
                self._streams(),
                cache=None,
                client_info=mcp_types.Implementation(name="octoc", version=__version__),
            )
            async with client:
                self._validate_listed(client)
                self._client = client
                self._ready.set()
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001  # whatever the SDK, the network or a strange server makes of it
            if self._client is None:
                raise ConnectionFailed(not_started(error, self._target, self._process, self._status.code)) from None
        finally:
            self._lost = True
            if self._process is not None:
                self._process.kill()

    def _validate_listed(self, client: Client) -> None:
        """Have the SDK check answers of listed tools alone: for any other it lists anew at every call, and warns."""
        session = client.session
        validate = session.validate_tool_result

        async def validate_listed(name: str, result: mcp_types.CallToolResult) -> None:
            if name in self._listed:
                await validate(name, result)

        session.validate_tool_result = validate_listed  # type: ignore[method-assign]

    async def _learn(self, client: Client) -> None:
        """List the tools once, before the first call: answers are checked, and HTTP headers made, by their schemas."""
        async with self._learning:
            if self._learned:
                return
            with contextlib.suppress(Exception):  # the call itself says what is wrong with the server
                await self._pages(client)
            self._learned = True

    @contextlib.asynccontextmanager
    async def _streams(self) -> AsyncIterator[Any]:
        if self._process is not None:
            async with process_streams(self._process) as streams:
                try:
                    yield streams
                except BaseException:
                    self._process.impatient = True
                    raise
        elif self._kind == "sse":
            async with sse_streams(self._target, self._status) as streams:
                yield streams
        else:
            async with http_streams(self._target, self._status) as streams:
                yield streams

    def _silence(self) -> str:
        process = self._process
        said = ""
        if process is not None and process.garbage is not None:
            said = f"; it printed `{process.garbage}`, which is not MCP"
        elif process is not None and process.stderr.lines:
            said = f"; its last line on stderr: {process.stderr.lines[-1]}"
        return one_line(f"`{self._target.name}` did not answer within {self._target.timeout_s:g} s{said}", self._target)

    async def _abandon(self) -> None:
        """End a connection that never came about, without the patience that an answering server gets."""
        if self._process is not None:
            self._process.impatient = True
        if self._owner is not None:
            self._owner.cancel()
        await self._ended(CLOSE_S)

    async def _ended(self, seconds: float) -> bool:
        """Wait for the owner's end, without cancelling it when the waiting task is; its error is not the caller's."""
        if self._owner is None:
            return True
        done, _ = await asyncio.wait((self._owner,), timeout=seconds)
        if done and not self._owner.cancelled():
            self._owner.exception()
        return bool(done)

    @property
    def alive(self) -> bool:
        """False once the connection can carry no further call."""
        if self._lost or self._stop.is_set():
            return False
        return self._process is None or not (self._process.lost or self._process.exit_code is not None)

    async def list_tools(self) -> ServerListing:
        """Return the server's tools, all pages. Raises: ConnectionFailed."""
        client = self._client
        if client is None or not self.alive:
            raise ConnectionFailed(await self._loss())
        try:
            async with asyncio.timeout(self._target.timeout_s):
                tools = await self._pages(client)
        except TimeoutError:
            limit = f"{self._target.timeout_s:g} s"
            raise ConnectionFailed(f"`{self._target.name}` did not list its tools within {limit}") from None
        except ConnectionFailed:
            raise
        except Exception as error:  # noqa: BLE001  # whatever the SDK, the network or a strange server makes of it
            raise ConnectionFailed(await self._why_unlisted(error)) from None
        info = client.server_info
        return ServerListing(
            server_info={} if info is None else _wire(info),
            protocol_version=client.protocol_version,
            instructions=client.instructions,
            tools=tuple(
                ListedTool(name=tool.name, description=tool.description or "", wire=_wire(tool)) for tool in tools
            ),
        )

    async def _pages(self, client: Client) -> list[mcp_types.Tool]:
        tools: list[mcp_types.Tool] = []
        seen: set[str] = set()
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools.extend(page.tools)
            cursor = page.next_cursor
            if cursor is None:  # an empty string is a cursor like any other
                self._listed = {tool.name for tool in tools}
                self._learned = True
                return tools
            if cursor in seen:
                raise ConnectionFailed(f"`{self._target.name}` lists its tools without end: it repeats a page's cursor")
            seen.add(cursor)

    async def _why_unlisted(self, error: Exception) -> str:
        error_leaf = leaf(error)
        if isinstance(error_leaf, MCPError):
            if error_leaf.code == mcp_types.CONNECTION_CLOSED:
                return await self._loss()
            if error_leaf.code == mcp_types.METHOD_NOT_FOUND:
                return f"`{self._target.name}` has no tools to list"
        return one_line(f"`{self._target.name}` could not list its tools: {error_leaf}", self._target)

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        """Call a tool. Never raises for a failure of server, tool or connection; cancellation passes through."""
        client = self._client
        if client is None or not self.alive:
            return failure("connection_lost", await self._loss())
        try:
            async with asyncio.timeout(call.timeout_s):
                if not self._learned:
                    await self._learn(client)
                answer = await client.call_tool(call.tool, dict(call.arguments))
        except TimeoutError:
            return self._late(call)
        except MCPError as error:
            return await self._refused(error, call)
        except Exception as error:  # noqa: BLE001  # the contract: a failure is a value, whatever the SDK raised
            return await self._broken(error, call)
        return ToolResult(
            content=tuple(map(_part, answer.content)),
            structured=answer.structured_content,
            is_error=bool(answer.is_error),
        )

    def _late(self, call: ToolCall) -> ToolFailure:
        return failure("timeout", f"`{self._target.name}` did not answer `{call.tool}` within {call.timeout_s:g} s")

    async def _refused(self, error: MCPError, call: ToolCall) -> ToolResult | ToolFailure:
        if error.code == mcp_types.REQUEST_TIMEOUT:
            return self._late(call)
        if error.code == mcp_types.CONNECTION_CLOSED:
            self._lost = True
            return failure("connection_lost", await self._loss())
        if self._status.code == 404:
            self._lost = True  # a session that the server has ended: only a new connection has another
            return failure("connection_lost", f"`{self._target.name}` has ended the session: HTTP 404")
        if self._status.code is not None:
            return failure("protocol", f"`{self._target.name}` answered HTTP {self._status.code}")
        meant = of_protocol_error(error, call.tool, self._target)
        if meant is not None:
            return meant
        return ToolResult.of_text(error.message, is_error=True)

    async def _broken(self, error: Exception, call: ToolCall) -> ToolFailure:
        if not self.alive:
            return failure("connection_lost", await self._loss())
        # The SDK's checks of an answer put the whole schema into their text: the cause says it in one sentence.
        cause = leaf(error)
        reason = getattr(cause.__cause__, "message", None) or str(cause) or type(cause).__name__
        said = f"`{self._target.name}` answered `{call.tool}` with something that is not what it declares: {reason}"
        return failure("protocol", one_line(said, self._target))

    async def _loss(self) -> str:
        if self._process is None or self._stop.is_set():
            return f"the connection to `{self._target.name}` is closed"
        await self._process.wait_exit(EXIT_CODE_S)
        return one_line(f"`{self._target.name}` {ending(self._process)}", self._target)

    async def close(self) -> None:
        """End the connection and the server's process; idempotent, bounded in time."""
        self._stop.set()
        if not await self._ended(CLOSE_S):
            await self._abandon()


def _wire(model: Any) -> dict[str, Any]:
    wire: dict[str, Any] = model.model_dump(by_alias=True, exclude_none=True, mode="json")
    return wire


def _part(block: Any) -> ContentPart:
    if block.type == "text":
        return ContentPart(type="text", text=block.text)
    return ContentPart(type=block.type, data=_wire(block))
