"""Ask an explainer, the host's or a plugin's, what a failed call means, in bounded time and without secrets."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.masking import mask_secrets
from octoc.plugin import FailedCall, PluginError
from octoc.results import Caller, ContentPart, FailureKind, ToolFailure, ToolResult
from octoc.runtime.results.failures import explained, named_error, unexplained
from octoc.secrets import redact

if TYPE_CHECKING:
    from octoc.names import ToolId
    from octoc.runtime.state import SessionState
    from octoc.runtime.tools.server_call import Outcome

logger = logging.getLogger("octoc.runtime")

TIMEOUT_S = 10.0
MAX_INPUT = 500
"""Code points of arguments and of the message for an explainer. Source: Octo, the error middleware."""
MAX_EXPLANATION = 2000
_MAX_MASKED = 20_000
# The text of every other failure has advice already.
_EXPLAINED: frozenset[FailureKind] = frozenset({
    "connect_failed", "connection_lost", "timeout", "too_large", "protocol", "internal",
})  # fmt: skip


async def explain(
    session: SessionState, tool: ToolId, shown: str, arguments: Mapping[str, Any], outcome: Outcome, caller: Caller
) -> Outcome:
    """Return the outcome with an explainer's text for the model, or unchanged if there is none or it fails.

    `shown` is the model's name for the tool. Only the text changes: kind, message and structured content stay.
    """
    if outcome.ok or (isinstance(outcome, ToolFailure) and outcome.kind not in _EXPLAINED):
        return outcome
    loaded, profile = session.loaded, session.profile
    # Octo names the tool in every failure; the text of a `ToolFailure` has it already.
    names = profile == "octo"
    unchanged = named_error(outcome, shown) if names and isinstance(outcome, ToolResult) else outcome
    secrets = loaded.connector.secrets(tool.server)
    try:
        if session.runtime.explain is None and not loaded.plugins.explains:
            return unchanged
        failed = FailedCall(
            server=tool.server,
            tool=tool.tool,
            kind=outcome.kind if isinstance(outcome, ToolFailure) else "tool_error",
            message=_safe(outcome.message if isinstance(outcome, ToolFailure) else outcome.text, secrets),
            arguments=_safe(json.dumps(arguments, ensure_ascii=False, default=str), secrets),
            caller=caller,
            agent_type=session.agent.type,
        )
        answer = await _ask(session, failed)
    except Exception as error:  # noqa: BLE001  # the model gets a text whatever a host's or plugin's code raises
        # Only a plugin's own message is known to be free of secrets.
        why = _safe(str(error), secrets) if isinstance(error, PluginError) else type(error).__name__
        logger.warning("the failure of `%s` was not explained: %s", tool, why)
        if not names:
            return outcome
        if isinstance(outcome, ToolResult):
            return named_error(outcome, shown, explainer_failed=True)
        return attrs.evolve(outcome, text=unexplained(outcome, shown))
    if answer is None:
        return unchanged
    text = explained(redact(answer, secrets), outcome if isinstance(outcome, ToolFailure) else None, profile)
    if isinstance(outcome, ToolFailure):
        return attrs.evolve(outcome, text=text)
    return attrs.evolve(outcome, content=(ContentPart(type="text", text=text),))


async def _ask(session: SessionState, failed: FailedCall) -> str | None:
    host = session.runtime.explain
    async with asyncio.timeout(TIMEOUT_S):
        answer = None if host is None else host(failed)
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is None:
            answer = session.loaded.plugins.explain_failure(failed)
            if inspect.isawaitable(answer):
                answer = await answer
    if answer is not None and not isinstance(answer, str):
        raise PluginError(f"an explainer answered with a `{type(answer).__name__}`, and text was expected")
    words = " ".join((answer or "").split())
    return words[:MAX_EXPLANATION] or None


def _safe(text: str, secrets: tuple[str, ...]) -> str:
    # Masked before it is cut, as half a secret is not recognised.
    return mask_secrets(redact(text, secrets)[:_MAX_MASKED])[:MAX_INPUT]
