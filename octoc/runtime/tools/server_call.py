"""One call to one server: lease a connection, limit the time, repeat if safe, hide secrets. Failures are values."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.json_limits import check_numbers
from octoc.names import ToolId
from octoc.plain_text import because
from octoc.results import TOOLS_CALL, Caller, FailureKind, Progress, ToolCall, ToolFailure, ToolResult
from octoc.runtime import telemetry
from octoc.runtime.results.failures import exception_of, failure, with_retry, worded
from octoc.runtime.results.parts import is_large
from octoc.runtime.results.redact import clean_error, log_without_secrets, progress_without_secrets
from octoc.runtime.servers.connection import FAULTS
from octoc.runtime.servers.lease import LEASE, Lease
from octoc.runtime.servers.retry import MAX_REPEATS, is_harmless, may_repeat, pause_before
from octoc.runtime.servers.unreachable import FAILURES, UnreachableError
from octoc.runtime.shares import account_of
from octoc.runtime.tools.policy import limit_of, retry_mode
from octoc.secrets import redact

if TYPE_CHECKING:
    from octoc.bundle.model import ServerEntry
    from octoc.results import LogWish
    from octoc.runtime.loaded_bundle import LoadedBundle
    from octoc.runtime.servers.tool_breakers import RequestKind

logger = logging.getLogger("octoc.runtime")

META_TENANT, META_USER, META_CORRELATION = "octoc/tenant", "octoc/user", "octoc/correlationId"
"""Keys of a call's `_meta`: its tenant, user and correlation id, if the host named them."""
LOGGED: frozenset[FailureKind] = FAULTS | {"internal"}
"""The failures of a call that are logged; others concern only the caller, who can read them."""
_KINDS: Mapping[str, RequestKind] = {
    "resources/read": "resource",
    "prompts/get": "prompt",
    "completion/complete": "completion",
}
_GRACE_S = 0.25
"""Seconds after the time limit in which a transport may still report why a call took too long."""
Outcome = ToolResult | ToolFailure

_DEAD = "the connection was closed"


async def call_server(
    loaded: LoadedBundle,
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    caller: Caller | None = None,
    shown: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    profile: str | None = None,
    method: str = TOOLS_CALL,
    log: LogWish | None = None,
) -> Outcome:
    """Call `tool` of `server` within its time limit, wall clock with all waiting; never raises for a failure.

    A call that was not sent is repeated, one that was sent only if that is safe or configured, at most twice. `shown`
    is the model's name for the tool, and `profile` the profile of failures, by default the workspace's. With another
    `method` it is a request about `tool`, which only an `OfferingConnection` sends.
    """
    entry = loaded.servers[server]
    call = ToolCall(
        tool=tool,
        arguments=arguments,
        timeout_s=limit_of(entry, tool) if method == TOOLS_CALL else entry.timeout_s,
        caller=caller or Caller(),
        on_progress=progress_without_secrets(on_progress, lambda: loaded.connector.secrets(server)),
        method=method,
        log=log_without_secrets(log, server, lambda: loaded.connector.secrets(server)),
    )
    with telemetry.calling(
        entry, loaded.kind_of(entry.transport), call, lambda text: redact(text, loaded.connector.secrets(server))
    ) as watched:
        meta = {**_ids(call.caller), **watched.meta()}
        if meta:
            call = attrs.evolve(call, meta=meta)
        words = profile or loaded.bundle.settings.results.profile
        outcome = await _observed(loaded, entry, call, shown or f"{server}/{tool}", words)
        watched.ended(outcome)
    return outcome


def _ids(caller: Caller) -> dict[str, str]:
    """Return the fields of `_meta` for a caller: those that the host named."""
    ids = {META_TENANT: caller.tenant, META_USER: caller.user, META_CORRELATION: caller.correlation_id}
    return {key: value for key, value in ids.items() if value is not None}


async def _observed(loaded: LoadedBundle, entry: ServerEntry, call: ToolCall, shown: str, profile: str) -> Outcome:
    """Make a call and report its end to observers."""
    started = time.monotonic()
    running = _Call(loaded, entry, call, (shown, profile), started)
    try:
        outcome = await running.run()
    except BaseException:
        message = f"the call of `{entry.name}/{call.tool}` was cancelled"
        stopped = worded(failure("cancelled", message, sent=running.sent), shown, profile)
        loaded.plugins.call_finished(entry.name, call, stopped, time.monotonic() - started)
        raise
    if not outcome.ok:
        outcome = clean_error(outcome, loaded.connector.secrets(entry.name))
    loaded.plugins.call_finished(entry.name, call, outcome, time.monotonic() - started)
    return outcome


class _Call:
    """A call with its repetitions."""

    def __init__(
        self, loaded: LoadedBundle, entry: ServerEntry, call: ToolCall, words: tuple[str, str], started: float
    ) -> None:
        self._loaded = loaded
        self._entry = entry
        self._call = call
        self._shown, self._profile = words
        self._until = started + call.timeout_s
        self._what = f"{entry.name}/{call.tool}"
        self._kind = _KINDS.get(call.method, "tool")
        self._died = ""
        self.sent = False
        """Whether a try was sent: from then on the server may have begun it."""
        self._unanswered = False

    async def run(self) -> Outcome:
        refusal = self._refusal()
        if refusal is not None:
            return refusal
        repeats = 0
        failed: ToolFailure | None = None
        while True:
            outcome, final = await self._once()
            if isinstance(outcome, ToolResult):
                return outcome
            if failed is not None and final and outcome.kind == "unavailable":
                # This refusal names only the kind of the failure, and the call has the failure itself.
                return self._worded(attrs.evolve(failed, retry_after_s=outcome.retry_after_s))
            if final or repeats == MAX_REPEATS or not self._may_repeat(outcome):
                return outcome
            failed = outcome
            self._unanswered = self._unanswered or outcome.sent
            repeats += 1
            pause = pause_before(repeats, outcome)
            if time.monotonic() + pause >= self._until:
                return outcome
            if outcome.kind == "connection_lost":
                self._died = outcome.message
            await asyncio.sleep(pause)

    def _refusal(self) -> ToolFailure | None:
        """Return the failure of a call of what differs from its pin, if the workspace refuses the change."""
        refused = self._loaded.refused.get(self._entry.name)
        if refused is None:
            return None
        name = self._call.tool
        if self._call.method != TOOLS_CALL:
            name = f"{_KINDS.get(self._call.method, '')} {name}"
        found = refused.get(name)
        return None if found is None else self._worded(failure(*found))

    async def _once(self) -> tuple[Outcome, bool]:
        """Try once. Returns the outcome, and whether it is final, so that no other try may follow."""
        try:
            account = account_of(self._call.caller)
            lease = self._loaded.pool.use(self._entry.name, self._until, account, self._call.tool, self._kind)
            async with asyncio.timeout(self._until - time.monotonic()):
                await lease.acquire()
        except TimeoutError:
            stage = lease.stage
            lease.release()  # it may have acquired the connection just now
            return self._worded(self._too_late(stage)), True
        except UnreachableError as unreachable:
            return self._unreachable(unreachable), unreachable.final
        LEASE.set(lease)
        try:
            # A server that was connected for this call has listed its tools meanwhile.
            refusal = self._refusal()
            if refusal is not None:
                return refusal, True
            outcome = await self._on(lease)
            lease.report(outcome)
        finally:
            lease.release()
        if not isinstance(outcome, ToolFailure):
            return outcome, True
        if outcome.kind in LOGGED:  # other callers see only the kind, so the log has the text
            text = redact(outcome.message, self._loaded.connector.secrets(self._entry.name))
            FAILURES.warning("the call of `%s` failed: %s: %s", self._what, outcome.kind, text)
        return self._worded(outcome), outcome.kind == "timeout"

    async def _on(self, lease: Lease) -> Outcome:
        left = self._until - time.monotonic()
        call = self._call
        if left < call.timeout_s * 0.99:
            call = attrs.evolve(call, timeout_s=max(round(left, 3), 0.001), limit_s=call.timeout_s)
        try:
            # Transports keep the limit themselves, with a better message; this limit is for plugins that do not.
            async with _backstop(left) as scope:
                lease.scope = scope
                self.sent = True
                outcome = await _sent(lease, call)
            return await _without_odd_numbers(outcome, self._entry.name, call.tool)
        except TimeoutError:
            if lease.interrupted:
                return failure("cancelled", "the runtime was closed during the call", sent=True)
            message = f"`{self._what}` did not answer within {self._call.timeout_s:g} s"
            return failure("timeout", message, sent=True)
        except Exception as error:  # noqa: BLE001  # a connection must not raise, so it is the plugin's fault
            logger.error("the transport of `%s` raised `%s`", self._entry.name, type(error).__name__)  # noqa: TRY400  # its text may hold a secret
            return failure("internal", f"the transport of `{self._entry.name}` failed{because(error)}", sent=True)

    def _too_late(self, stage: str) -> ToolFailure:
        name, limit = self._entry.name, self._call.timeout_s
        if stage == "place":
            most = self._entry.max_concurrent
            message = f"server `{name}` is busy: none of its {most} places for calls became free within {limit:g} s"
        else:
            message = f"server `{name}` did not connect within {limit:g} s"
        return failure("timeout", message)

    def _unreachable(self, unreachable: UnreachableError) -> ToolFailure:
        outcome = self._worded(unreachable.failure)
        if self._profile == "octopus" or not (unreachable.lost or self._died):
            return outcome
        died = self._died or _DEAD
        if self._profile == "octo":
            why = f"{exception_of(outcome)}: {outcome.message}"
            text = f"session died (ConnectionError: {died}), reconnect failed ({why}). Try /mcp reload."
        else:
            text = with_retry(f"{died}, and connecting again failed: {outcome.message}", outcome.retry_after_s)
        return attrs.evolve(outcome, text=f"[Tool error] {self._shown}: {text}")

    def _worded(self, failed: ToolFailure) -> ToolFailure:
        return worded(failed, self._shown, self._profile, sent_before=self._unanswered)

    def _may_repeat(self, outcome: ToolFailure) -> bool:
        entry, catalog = self._entry, self._loaded.catalog
        if self._call.method != TOOLS_CALL:
            return may_repeat(outcome, entry.retry, harmless=True)  # reading changes nothing
        index = catalog.find(ToolId(entry.name, self._call.tool)) if entry.trusted else None
        harmless = index is not None and is_harmless(catalog.shared_wire(index))
        return may_repeat(outcome, retry_mode(entry, self._call.tool), harmless=harmless)


async def _sent(lease: Lease, call: ToolCall) -> Outcome:
    if call.method == TOOLS_CALL:
        return await lease.connection.call(call)
    request = getattr(lease.connection, "request", None)
    if request is None:
        return failure("not_found", "its kind of server has no resources and prompts")
    outcome: Outcome = await request(call)
    return outcome


async def _without_odd_numbers(outcome: Outcome, server: str, tool: str) -> Outcome:
    """Return a failure instead of a result with NaN or an infinity, which a transport of a plugin may let through."""
    if isinstance(outcome, ToolFailure) or (
        outcome.structured is None and all(p.data is None for p in outcome.content)
    ):
        return outcome
    if is_large(outcome):
        is_odd = await asyncio.to_thread(_has_odd_number, outcome)
    else:
        is_odd = _has_odd_number(outcome)
    if not is_odd:
        return outcome
    return failure("protocol", f"`{server}` answered `{tool}` with a number that JSON does not have", sent=True)


def _has_odd_number(result: ToolResult) -> bool:
    """Return whether the structured content or a part of a result has NaN or an infinity."""
    try:
        check_numbers([result.structured, *(part.data for part in result.content)])
    except ValueError:
        return True
    except RecursionError:
        return False
    return False


@contextlib.asynccontextmanager
async def _backstop(seconds: float) -> AsyncIterator[asyncio.Timeout]:
    """End the block with a TimeoutError after `seconds` and the grace.

    The grace begins when the event loop reaches the limit. Otherwise, in a loop that was busy beyond both, this limit
    would end the call in the same step as the transport's own, and the transport's reason would be lost.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as scope:

        def begin_grace() -> None:
            if scope.when() is None:  # an interrupted call ends sooner
                scope.reschedule(loop.time() + _GRACE_S)

        limit = loop.call_later(seconds, begin_grace)
        try:
            yield scope
        finally:
            limit.cancel()
