"""One call to one server: lend the connection, keep the time, hide secrets, tell observers. Every end is a value."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.results import Caller, Progress, ToolCall, ToolFailure, ToolResult
from octoc.runtime.pool import Unreachable
from octoc.runtime.results import exception_of, failure, redact, worded

if TYPE_CHECKING:
    from octoc.runtime.generation import Generation

Outcome = ToolResult | ToolFailure

_DEAD = "the connection was closed"


async def call_server(
    generation: Generation,
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    *,
    caller: Caller | None = None,
    shown: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Call `tool` of `server` within the server's time limit, and never raise for a failure.

    A connection that had died before is made anew, once, since nothing was sent on it; what fails after sending is not
    sent again. `shown` is what the model calls the tool, for the words of a failure.
    """
    import asyncio

    entry = generation.servers[server]
    name = shown or f"{server}/{tool}"
    profile = generation.bundle.settings.results.profile
    call = ToolCall(
        tool=tool,
        arguments=arguments,
        timeout_s=entry.timeout_s,
        caller=caller or Caller(),
        on_progress=on_progress,
    )
    started = time.monotonic()
    try:
        async with generation.pool.use(server) as connection:
            try:
                async with asyncio.timeout(entry.timeout_s):
                    outcome: Outcome = await connection.call(call)
            except TimeoutError:
                outcome = failure("timeout", f"`{server}/{tool}` did not answer within {entry.timeout_s:g} s")
            except Exception as error:  # noqa: BLE001  # the protocol forbids it, so it is the plugin's fault, not the host's
                outcome = failure("internal", f"the transport of `{server}` failed: {type(error).__name__}: {error}")
        if isinstance(outcome, ToolFailure):
            outcome = worded(outcome, name, profile)
    except Unreachable as unreachable:
        outcome = worded(unreachable.failure, name, profile)
        if unreachable.lost and profile != "octopus":
            why = f"{exception_of(outcome)}: {outcome.message}"
            text = f"session died (ConnectionError: {_DEAD}), reconnect failed ({why}). Try /mcp reload."
            outcome = attrs.evolve(outcome, text=f"[Tool error] {name}: {text}")
    if isinstance(outcome, ToolFailure):
        secrets = generation.connector.secrets(server)
        outcome = attrs.evolve(outcome, message=redact(outcome.message, secrets), text=redact(outcome.text, secrets))
    generation.plugins.call_finished(server, call, outcome, time.monotonic() - started)
    return outcome
