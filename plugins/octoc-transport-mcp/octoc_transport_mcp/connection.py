"""One live connection: its own task opens and closes the SDK's client, and any task may call through it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import attrs
import mcp_types
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from octoc import __version__
from octoc.plugin import (
    Caller,
    ConnectFailedError,
    Connection,
    Host,
    ServerListing,
    ServerTarget,
    ToolCall,
    ToolFailure,
    ToolResult,
)
from octoc.plugin.toolkit import because, words_of
from octoc_transport_mcp.claims import ATTEMPT, CLAIM, TOOLS_CALL, Attempt, Claim, ClaimedCalls
from octoc_transport_mcp.conversion import listed_tools, wire_of
from octoc_transport_mcp.direct_calls import direct_calls
from octoc_transport_mcp.failures import (
    ending,
    failure,
    how_it_ended,
    last_lines,
    leaf,
    line_fault,
    not_connected,
    not_spawned,
    of_protocol_error,
    one_line,
    redact_error,
    secrets_of,
)
from octoc_transport_mcp.http import check_url, http_streams, sse_streams
from octoc_transport_mcp.http_faults import HttpState
from octoc_transport_mcp.input_rounds import InputRounds
from octoc_transport_mcp.lenient import LenientAnswers
from octoc_transport_mcp.listing import ListChanges, ToolList, all_tools
from octoc_transport_mcp.logs import LOGGED_CALL, LoggedCalls, ask_for_logs
from octoc_transport_mcp.messages import LineFault
from octoc_transport_mcp.offers import features_of, list_offers
from octoc_transport_mcp.outbound import sent_through
from octoc_transport_mcp.process import ServerProcess, process_streams
from octoc_transport_mcp.requests import call_tool, send_request, why_no_json
from octoc_transport_mcp.server_requests import ServerRequests
from octoc_transport_mcp.subscriptions import ResourceSubscriptions

log = logging.getLogger("octoc.transport")

CLOSE_S = 6.0
"""The longest that `close` waits: a process ends within 4 s, and the SDK gets the rest."""
EXIT_CODE_S = 0.2
"""How long a failure waits for the exit code of a server whose stdout has ended."""
LEARN_S = 2.0
LEARN_SHARE = 1 / 4
"""Limits on the listing of tools before the first call: seconds, and share of that call's time."""
FEW_TOOLS = 200
"""Longer lists of tools are converted in a thread."""
_CLOSED = "Connection closed"
"""The SDK's error message for running calls when a connection ends."""


async def open_connection(kind: str, target: ServerTarget, host: Host | None = None) -> Connection:
    """Connect to `target` within its time-out. Raises: ConnectFailedError, after stopping all that it started."""
    if target.auth and kind == "stdio":
        raise ConnectFailedError(
            f"the `auth` of `{target.name}` is for servers with a `url`: put its credential into `env`", permanent=True
        )
    missing = (
        "command" if kind == "stdio" and not target.command else "url" if kind != "stdio" and not target.url else ""
    )
    if missing:
        raise ConnectFailedError(f"`{target.name}` has no `{missing}` to connect to", permanent=True)
    if kind != "stdio":
        check_url(target)
    connection = McpConnection(kind, target, host or Host())
    await connection.open()
    return connection


class McpConnection:
    """A `Connection` with a task of its own.

    The task that opens the SDK's client must also close it: `_owner` lives as long as the connection. Calls run in the
    tasks of their callers; the SDK matches answers to calls by id.
    """

    def __init__(self, kind: str, target: ServerTarget, host: Host) -> None:
        self._kind = kind
        self._target = target
        self._server_requests = ServerRequests(target.name, host, target.timeout_s)
        self._claims = self._server_requests.claims
        self._changes = ListChanges(target.name, host.tools_changed)
        self._subscriptions = ResourceSubscriptions()
        self._process: ServerProcess | None = None
        self._http = HttpState(target, self._claims)
        self._client: Client | None = None
        self._lost = False
        self._stop = asyncio.Event()
        self._ready = asyncio.get_running_loop().create_future()
        self._owner: asyncio.Task[None] | None = None
        self._listed: set[str] = set()
        self._learned = False
        self._learning = asyncio.Lock()
        self._callers: set[Caller] = set()
        self._loss_logged = False

    async def open(self) -> None:
        """Start the owner and wait for the server's first answer. Raises: ConnectFailedError."""
        self._owner = owner = asyncio.create_task(self._own(), name=f"octoc: {self._target.name}")
        try:
            await asyncio.wait(
                (owner, self._ready), timeout=self._target.timeout_s, return_when=asyncio.FIRST_COMPLETED
            )
            if self._client is None and not owner.done():
                message = f"`{self._target.name}` did not answer within {self._target.timeout_s:g} s"
                message = self._with_output(message, self._output_since())  # `_abandon` changes the process's state
                await self._abandon()
                raise ConnectFailedError(message, kind="timeout")
        except asyncio.CancelledError:
            await self._abandon()
            raise
        if owner.done():
            error = None if owner.cancelled() else owner.exception()
            if error is None or isinstance(error, ConnectFailedError):
                raise error or ConnectFailedError("connecting was ended")
            raise ConnectFailedError(f"connecting failed{self._because(error)}")

    async def _own(self) -> None:
        try:
            if self._kind == "stdio":
                self._process = await ServerProcess.start(self._target, self._claims)
        except (OSError, ValueError) as error:
            raise not_spawned(error, self._target) from None
        try:
            client = Client(
                self._streams(),
                cache=None,
                mode="legacy" if self._target.era == "handshake" else "auto",
                client_info=mcp_types.Implementation(name="octoc", version=__version__),
                message_handler=self._hear,
                **self._server_requests.callbacks(),
            )
            async with client:
                self._validate_listed(client)
                session, version, name = client.session, client.protocol_version, self._target.name
                modern = version in MODERN_PROTOCOL_VERSIONS
                self._server_requests.watch(session, modern=modern, over_pipe=self._process is not None)
                listening = asyncio.create_task(self._changes.listen(client), name=f"octoc news: {name}")
                try:
                    with contextlib.ExitStack() as stack:
                        stack.enter_context(direct_calls(session, self._http))
                        stack.enter_context(sent_through(session, lambda inner: LoggedCalls(inner, self._claims.logs)))
                        stack.enter_context(sent_through(session, lambda inner: LenientAnswers(inner, name, version)))
                        if modern and self._server_requests.answers_rounds:
                            rounds = functools.partial(
                                InputRounds, requests=self._server_requests, over_pipe=self._process is not None
                            )
                            stack.enter_context(sent_through(session, rounds))
                        if not modern:
                            claimed = functools.partial(ClaimedCalls, claims=self._claims, is_answer=self._is_answer)
                            stack.enter_context(sent_through(session, claimed))
                        self._client = client
                        self._ready.set_result(None)
                        await self._stop.wait()
                finally:
                    listening.cancel()
                    await asyncio.wait((listening,))
        except Exception as error:  # noqa: BLE001  # whatever the SDK, the network or a strange server makes of it
            if self._client is None:
                raise self._not_connected(error) from None
        finally:
            self._lost = True
            self._changes.close()
            self._subscriptions.close()
            if self._process is not None:
                self._process.kill()

    async def _hear(self, message: Any) -> None:
        await self._changes.hear(message)
        self._subscriptions.hear(message)

    def _not_connected(self, error: Exception) -> ConnectFailedError:
        fault = None if self._kind == "stdio" else self._http.fault_of(leaf(error))
        if fault is not None:
            return self._http.connection_failed(fault)
        return not_connected(error, self._target, self._process)

    def _validate_listed(self, client: Client) -> None:
        """Let the SDK check answers of listed tools only: for others it would list the tools again at each call."""
        session = client.session
        validate = session.validate_tool_result

        async def validate_listed(name: str, result: mcp_types.CallToolResult) -> None:
            if name in self._listed:
                await validate(name, result)

        session.validate_tool_result = validate_listed  # type: ignore[method-assign]

    async def _learn(self, client: Client, seconds: float) -> None:
        """List the tools once, before the first call: the SDK checks answers, and makes HTTP headers, by their schemas.

        An error here does not fail the call, which reports a fault of the server itself.
        """
        with contextlib.suppress(Exception):
            async with asyncio.timeout(min(LEARN_S, seconds * LEARN_SHARE)), self._learning:
                if not self._learned:
                    await self._take_tools(client)
        self._learned = True

    async def _take_tools(self, client: Client) -> ToolList:
        listed = await all_tools(client, self._target)
        self._listed = {tool.name for tool in listed.tools}
        self._learned = True
        return listed

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
            async with sse_streams(self._target, self._http) as streams:
                yield streams
        else:
            async with http_streams(self._target, self._http) as streams:
                yield streams

    def _note_caller(self, caller: Caller) -> None:
        self._callers.add(attrs.evolve(caller, correlation_id=None, workdir=None))

    def _with_output(self, message: str, output: str) -> str:
        """Return a failure's message with the server's own output, if only one caller uses the connection.

        Otherwise the output may belong to another caller's call, and only the log gets it.
        """
        whole = one_line(message + output, self._target)
        if len(self._callers) < 2 or not output:
            return whole
        log.warning("%s", whole)
        return one_line(message, self._target)

    def _output_since(self, before: tuple[int, int] = (0, 0)) -> str:
        """Return the output of a server since the counts `before`, as the end of a failure's message."""
        process = self._process
        if process is None:
            return ""
        printed, written = process.output_counts
        if printed > before[0]:
            return f"; it printed `{process.garbage}`, which is not MCP"
        if written > before[1] and process.stderr.lines:
            return f"; its last line on stderr: {process.stderr.lines[-1]}"
        return ""

    async def _abandon(self) -> None:
        """End a connection that was never made, without the grace period of a server that answered."""
        if self._process is not None:
            self._process.impatient = True
        if self._owner is not None:
            self._owner.cancel()
        await self._ended(CLOSE_S)

    async def _ended(self, seconds: float) -> bool:
        """Wait for the owner's end. Cancelling the caller does not cancel the owner; its error is ignored."""
        if self._owner is None:
            return True
        done, _ = await asyncio.wait((self._owner,), timeout=seconds)
        if done and not self._owner.cancelled():
            self._owner.exception()
        return bool(done)

    @property
    def alive(self) -> bool:
        """False once the connection cannot carry another call."""
        if self._lost or self._http.lost or self._stop.is_set():
            return False
        return self._process is None or not (self._process.lost or self._process.exit_code is not None)

    @property
    def asks(self) -> bool:
        """True once the server has asked the host a question on a stream that all calls share."""
        return self._claims.asks

    @property
    def abandoned(self) -> bool:
        """True while the server may still work on a call without a caller, whose questions no other caller may get."""
        return self._claims.abandoned

    @property
    def stale(self) -> bool:
        """True once a call without a caller has run at the server for longer than the server's limit."""
        return self._claims.stale

    async def list_tools(self) -> ServerListing:
        """Return the server's tools and offers, all pages. Raises: ConnectFailedError."""
        client = self._client
        if client is None or not self.alive:
            raise ConnectFailedError(await self._loss())
        try:
            async with asyncio.timeout(self._target.timeout_s):
                listed = await self._take_tools(client)
                offers, why = await list_offers(client, self._target)
        except TimeoutError:
            message = f"`{self._target.name}` did not list its tools within {self._target.timeout_s:g} s"
            raise ConnectFailedError(self._with_output(message, self._output_since()), kind="timeout") from None
        except ConnectFailedError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever the SDK, the network or a strange server makes of it
            raise await self._unlisted(error) from None
        info = client.server_info
        tools = listed.tools
        return ServerListing(
            server_info={} if info is None else wire_of(info),
            protocol_version=client.protocol_version,
            instructions=client.instructions,
            tools=listed_tools(tools) if len(tools) <= FEW_TOOLS else await asyncio.to_thread(listed_tools, tools),
            left_out=listed.left_out,
            offers=offers,
            offers_failure=why,
            features=features_of(client),
        )

    async def _unlisted(self, error: Exception) -> ConnectFailedError:
        error_leaf = leaf(error)
        http_fault = self._http.fault_of(error_leaf)
        if http_fault is not None:
            return self._http.connection_failed(http_fault, listing=True)
        fault = line_fault(error_leaf)
        if fault is not None:
            return ConnectFailedError(self._of_line(fault, "tools/list"), kind=fault.kind)
        if isinstance(error_leaf, MCPError):
            if self._is_closed(error_leaf):
                return ConnectFailedError(await self._loss())
            if error_leaf.code == mcp_types.METHOD_NOT_FOUND:
                return ConnectFailedError(f"`{self._target.name}` has no tools to list", kind="protocol")
        message = one_line(f"`{self._target.name}` could not list its tools{self._because(error_leaf)}", self._target)
        return ConnectFailedError(message, kind="protocol")

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        """Call a tool. Never raises for a failure of server, tool or connection; cancellation passes through."""
        return await self._exchanged(call, call_tool)

    async def request(self, call: ToolCall) -> ToolResult | ToolFailure:
        """Send a request for a resource, a prompt or a completion; failures are those of `call`."""
        return await self._exchanged(call, send_request)

    async def subscribe(self, call: ToolCall, updated: Callable[[str], None]) -> ToolResult | ToolFailure:
        """Subscribe to the resource whose URI is `call.tool`; failures are those of `call`."""

        async def begin(client: Client, _: ToolCall) -> ToolResult:
            await self._subscriptions.add(client, call.tool, updated)
            return ToolResult(content=(), structured={})

        return await self._exchanged(call, begin)

    async def unsubscribe(self, uri: str, updated: Callable[[str], None]) -> None:
        """End a subscription."""
        if self._client is not None and self.alive:
            await self._subscriptions.remove(self._client, uri, updated)

    async def _exchanged(
        self, call: ToolCall, send: Callable[[Client, ToolCall], Awaitable[ToolResult]]
    ) -> ToolResult | ToolFailure:
        """Return the answer to what `send` sends, or why there is none."""
        client = self._client
        self._note_caller(call.caller)
        if client is None or not self.alive:
            return failure("connection_lost", await self._loss(), sent=False)
        unsendable = why_no_json(call.arguments)
        if unsendable is not None:
            return _not_sent(call.tool, unsendable)
        attempt = Attempt(over_pipe=self._process is not None)
        claim = Claim(caller=call.caller)
        CLAIM.set(claim)
        before = (0, 0) if self._process is None else self._process.output_counts
        try:
            async with asyncio.timeout(call.timeout_s):
                if not self._learned and call.method == TOOLS_CALL:
                    await self._learn(client, call.timeout_s)
                if call.log is not None:
                    call = await ask_for_logs(client, call, call.log, self._claims.logs)
                LOGGED_CALL.set(call)
                ATTEMPT.set(attempt)
                outcome: ToolResult | ToolFailure = await send(client, call)
        except TimeoutError:
            outcome = self._late(call, attempt, before)
        except MCPError as error:
            outcome = await self._refused(error, call, attempt, claim)
        except Exception as error:  # noqa: BLE001  # the contract: a failure is a value, whatever the SDK raised
            outcome = await self._broken(error, call, attempt)
        if isinstance(outcome, ToolResult) and outcome.is_error:
            outcome = redact_error(outcome, self._target)
        return self._server_requests.with_notes(outcome, claim)

    def _is_answer(self, error: MCPError) -> bool | None:
        """Return whether the server answered a call with this error; None if it certainly did not begin the call."""
        fault = self._http.fault_of(error)
        if fault is not None:
            return False if fault.sent else None
        return line_fault(error) is None and not self._is_closed(error)

    def _is_sent(self, attempt: Attempt) -> bool:
        """Return whether a call may have reached the server: known over a pipe, assumed over HTTP."""
        return attempt.written or self._process is None

    def _late(self, call: ToolCall, attempt: Attempt, before: tuple[int, int]) -> ToolResult | ToolFailure:
        message = f"`{self._target.name}` did not answer `{call.tool}` within {call.told_limit_s:g} s"
        if not self._is_sent(attempt):
            message += ": it does not read its stdin"
        return failure("timeout", self._with_output(message, self._output_since(before)), sent=self._is_sent(attempt))

    async def _refused(
        self, error: MCPError, call: ToolCall, attempt: Attempt, claim: Claim
    ) -> ToolResult | ToolFailure:
        http_fault = self._http.fault_of(error)
        if http_fault is not None:
            return self._http.failure(http_fault)
        fault = line_fault(error)
        if fault is not None:
            return failure(fault.kind, self._of_line(fault, call.tool))
        if self._is_closed(error):
            self._lost = True
            return failure("connection_lost", await self._loss(), sent=self._is_sent(attempt))
        if error.code == mcp_types.MISSING_REQUIRED_CLIENT_CAPABILITY:
            lacking = self._server_requests.lacking(error.error.data)
            said = one_line(lacking.message, self._target)
            return attrs.evolve(lacking, message=said, text=said)
        if claim.declined and error.code == mcp_types.INVALID_REQUEST:
            return failure("not_ready", self._server_requests.refusal(claim))
        meant = of_protocol_error(error, call.tool, self._target) if call.method == TOOLS_CALL else None
        return meant or attrs.evolve(ToolResult.of_text(error.message, is_error=True), rpc_code=error.code)

    def _is_closed(self, error: MCPError) -> bool:
        """Return whether the SDK reports the end of the connection; servers use its code for errors of their own."""
        return error.code == mcp_types.CONNECTION_CLOSED and (not self.alive or error.message == _CLOSED)

    async def _broken(self, error: Exception, call: ToolCall, attempt: Attempt) -> ToolFailure:
        if not self.alive:
            return failure("connection_lost", await self._loss(), sent=self._is_sent(attempt))
        if not self._is_sent(attempt):
            return _not_sent(call.tool, words_of(leaf(error)) or "the SDK refuses them")
        # The text of the SDK's checks has the whole schema in it; that of its cause is one sentence.
        cause = leaf(error)
        reason = getattr(cause.__cause__, "message", None) or words_of(cause)
        said = f"`{self._target.name}` answered `{call.tool}` with something that is not what it declares"
        return failure("protocol", one_line(f"{said}: {reason}" if reason else said, self._target))

    def _because(self, error: BaseException) -> str:
        return because(error, tuple(secrets_of(self._target)))

    def _of_line(self, fault: LineFault, asked: str) -> str:
        words = f": {fault.words}" if fault.words else ""
        return self._with_output(f"`{self._target.name}` answered `{asked}` with {fault.reason}", words)

    async def _loss(self) -> str:
        if self._process is None and self._http.ended is not None and not self._stop.is_set():
            return one_line(f"`{self._target.name}` {self._http.ended}", self._target)
        if self._process is None or self._stop.is_set():
            return f"the connection to `{self._target.name}` is closed"
        await self._process.wait_exit(EXIT_CODE_S)
        how = ending(self._process) if len(self._callers) < 2 else how_it_ended(self._process)
        if not self._loss_logged:
            self._loss_logged = True
            lines = last_lines(self._process, self._target) or "empty"
            log.warning("server `%s` %s; stderr: %s", self._target.name, how_it_ended(self._process), lines)
        return one_line(f"`{self._target.name}` {how}", self._target)

    async def close(self) -> None:
        """End the connection and the server's process. Idempotent, and limited in time."""
        self._stop.set()
        if not await self._ended(CLOSE_S):
            await self._abandon()


def _not_sent(tool: str, why: str) -> ToolFailure:
    return failure("bad_request", f"the arguments of `{tool}` cannot be written as JSON: {why}", sent=False)
