"""Spans and metrics through OpenTelemetry's API if the process uses it; otherwise nothing is imported.

Names are those of the semantic conventions for MCP and for generative AI (development status, October 2026). Arguments
and results are recorded only when `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` asks for them.
"""

from __future__ import annotations

import functools
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import attrs

from octoc.results import ToolCall, ToolFailure, ToolResult

if TYPE_CHECKING:
    from octoc.bundle.model import ServerEntry
    from octoc.transport_kinds import TransportKind

logger = logging.getLogger("octoc.telemetry")

CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ON_SPANS = frozenset({"true", "span_only", "span_and_event"})
_HISTOGRAMS = (
    ("gen_ai.execute_tool.duration", "Duration of a tool's execution, all waiting included"),
    ("mcp.client.operation.duration", "Duration of an MCP request as its sender sees it"),
)
_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)


class Step:
    """A step of work without a span, for programs without OpenTelemetry."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def note(self, **attributes: str | float | bool | None) -> None:
        """Add attributes; names have `__` for a dot, and values of None are ignored."""

    def failed(self, kind: str, message: str = "") -> None:
        """Record a failure: `kind` is one of few words, `message` has no secret."""

    def meta(self) -> Mapping[str, str]:
        """Return the fields by which a server continues the trace."""
        return {}

    def ended(self, outcome: ToolResult | ToolFailure) -> None:
        """Record the outcome of a call."""


_UNWATCHED = Step()


def step(name: str, **attributes: str | float | bool | None) -> Step:
    """Return a span, to be entered, around octoc's own work, such as routing or activation."""
    parts = _instruments()
    return _UNWATCHED if parts is None else _Span(parts, name, parts.internal, attributes)


def connecting(entry: ServerEntry, kind: TransportKind) -> Step:
    """Return a span, to be entered, around making a connection to a server."""
    parts = _instruments()
    if parts is None:
        return _UNWATCHED
    return _Span(parts, f"connect {entry.name}", parts.client, _of_server(entry, kind))


def calling(entry: ServerEntry, transport: TransportKind, call: ToolCall, hide: Callable[[str], str]) -> Step:
    """Return a span, to be entered, around a call with its waiting and repetitions; its duration is also measured.

    `hide` removes secrets from arguments and results, which are recorded only on request (`CAPTURE`).
    """
    parts = _instruments()
    if parts is None:
        return _UNWATCHED
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        **_of_server(entry, transport),
    }
    measured = ["gen_ai.operation.name", "gen_ai.tool.name", "octoc.server.name"]
    name, kind = f"execute_tool {call.tool}", parts.client if transport.network else parts.internal
    if transport.is_mcp:
        name, kind = f"{call.method} {call.tool}", parts.client
        attributes["mcp.method.name"] = call.method
        measured += ["mcp.method.name", "network.transport"]
    own = {key: attributes[key] for key in measured if key in attributes}
    who = {
        "gen_ai.agent.name": call.caller.agent or None,
        "gen_ai.conversation.id": call.caller.session,
        "octoc.correlation_id": call.caller.correlation_id,
        "octoc.tenant": call.caller.tenant,
        "enduser.id": call.caller.user,
    }
    watched = _Span(parts, name, kind, {**attributes, **who}, own, hide)
    watched.content("gen_ai.tool.call.arguments", lambda: dict(call.arguments))
    return watched


@attrs.frozen(kw_only=True)
class _Instruments:
    """The parts of OpenTelemetry's API, looked up once."""

    tracer: Any
    inject: Callable[[Any], None]
    client: Any
    internal: Any
    error: Any
    tool_duration: Any
    mcp_duration: Any
    content: bool


def _instruments() -> _Instruments | None:
    # A process that exports spans has loaded the API; for other processes the import would only cost time.
    return _made() if "opentelemetry.trace" in sys.modules else None


@functools.cache
def _made() -> _Instruments | None:
    from opentelemetry import metrics, propagate, trace

    from octoc import __version__

    meter = metrics.get_meter("octoc", __version__)
    try:
        tool_duration, mcp_duration = (
            meter.create_histogram(name, "s", text, explicit_bucket_boundaries_advisory=_BUCKETS)
            for name, text in _HISTOGRAMS
        )
    except TypeError:
        from octoc.installation import install_command

        command = install_command("octoc[telemetry]")
        logger.warning("OpenTelemetry is not used: its API is too old, run `%s`", command)
        return None
    return _Instruments(
        tracer=trace.get_tracer("octoc", __version__),
        inject=propagate.inject,
        client=trace.SpanKind.CLIENT,
        internal=trace.SpanKind.INTERNAL,
        error=trace.StatusCode.ERROR,
        tool_duration=tool_duration,
        mcp_duration=mcp_duration,
        content=os.environ.get(CAPTURE, "").lower() in _ON_SPANS,
    )


class _Span(Step):
    """A step of work with a span."""

    def __init__(
        self,
        parts: _Instruments,
        name: str,
        kind: Any,
        attributes: Mapping[str, Any],
        measured: Mapping[str, Any] | None = None,
        hide: Callable[[str], str] = str,
    ) -> None:
        self._parts = parts
        self._measured = None if measured is None else dict(measured)
        self._hide = hide
        self._started = time.monotonic()
        given = {_dotted(key): value for key, value in attributes.items() if value is not None}
        # Exceptions are recorded by kind only, as their messages may have secrets.
        self._scope = parts.tracer.start_as_current_span(
            name, kind=kind, attributes=given, record_exception=False, set_status_on_exception=False
        )
        self._span: Any = None
        self._has_failed = False
        self._content: list[tuple[str, Callable[[], Any]]] = []

    def __enter__(self) -> Self:
        self._span = self._scope.__enter__()
        for key, value in self._content:
            self._record(key, value)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not self._has_failed:
            self.failed("cancelled" if kind.__name__ == "CancelledError" else kind.__name__)
        if self._measured is not None:
            seconds = time.monotonic() - self._started
            self._parts.tool_duration.record(seconds, self._measured)
            if "mcp.method.name" in self._measured:
                self._parts.mcp_duration.record(seconds, self._measured)
        self._scope.__exit__(None, None, None)

    def note(self, **attributes: str | float | bool | None) -> None:
        self._span.set_attributes({_dotted(key): value for key, value in attributes.items() if value is not None})

    def failed(self, kind: str, message: str = "") -> None:
        self._has_failed = True
        self._span.set_attribute("error.type", kind)
        self._span.set_status(self._parts.error, message or None)
        if self._measured is not None:
            self._measured["error.type"] = kind

    def meta(self) -> Mapping[str, str]:
        carrier: dict[str, str] = {}
        if self._span.get_span_context().is_valid:
            self._parts.inject(carrier)
        return carrier

    def ended(self, outcome: ToolResult | ToolFailure) -> None:
        if isinstance(outcome, ToolFailure):
            self.failed(outcome.kind, outcome.message)
            return
        if outcome.is_error:
            # The text is the tool's own, so it counts as content.
            self.failed("tool_error")
        self._record("gen_ai.tool.call.result", lambda: outcome.text)

    def content(self, key: str, value: Callable[[], Any]) -> None:
        """Record content when the span begins, if content is recorded at all."""
        self._content.append((key, value))

    def _record(self, key: str, value: Callable[[], Any]) -> None:
        if self._parts.content and self._span.is_recording():
            content = value()
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)
            self._span.set_attribute(key, self._hide(text))


def _dotted(key: str) -> str:
    return key.replace("__", ".")


def _of_server(entry: ServerEntry, kind: TransportKind) -> dict[str, Any]:
    attributes: dict[str, Any] = {"octoc.server.name": entry.name}
    if kind.network is not None:
        attributes["network.transport"] = kind.network
    if kind.network == "tcp":
        attributes.update(_address(entry.url or ""))
    return attributes


@functools.lru_cache(maxsize=1024)
def _address(url: str) -> dict[str, Any]:
    # An address with a placeholder in its host or port is useless, or has a secret.
    from urllib.parse import urlsplit

    authority = url.partition("://")[2].partition("/")[0]
    if not authority or any(sign in authority for sign in "{}$@"):
        return {}
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80, "wss": 443, "ws": 80}.get(parts.scheme)
    except ValueError:
        return {}
    return {"server.address": parts.hostname, "server.port": port} if parts.hostname else {}
