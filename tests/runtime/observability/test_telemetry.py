import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from octoc.bundle.organisation import Quota
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import telemetry


class Seen:
    """What was sent to OpenTelemetry in one test."""

    def __init__(self, exporter: InMemorySpanExporter, reader: InMemoryMetricReader) -> None:
        self._exporter = exporter
        self.reader = reader

    def spans(self, prefix: str = "") -> list[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.name.startswith(prefix)]

    def one(self, prefix: str) -> tuple[ReadableSpan, dict[str, Any]]:
        (span,) = self.spans(prefix)
        return span, dict(span.attributes or {})


@pytest.fixture(scope="module")
def _providers() -> Iterator[Seen]:
    """The process's providers, which can be set once; after these tests they send nothing any more."""
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    meters = MeterProvider(metric_readers=[reader])
    trace.set_tracer_provider(tracers)
    metrics.set_meter_provider(meters)
    yield Seen(exporter, reader)
    tracers.shutdown()
    meters.shutdown()


@pytest.fixture
def seen(_providers: Seen, monkeypatch: pytest.MonkeyPatch) -> Iterator[Seen]:
    """The providers, with nothing of earlier tests."""
    monkeypatch.delenv(telemetry.CAPTURE, raising=False)
    telemetry._made.cache_clear()
    _providers._exporter.clear()
    yield _providers
    telemetry._made.cache_clear()


async def _bad(_: Mapping[str, Any]) -> ToolResult:
    return ToolResult.of_text("p4ssw0rd is wrong", is_error=True)


async def _lost(_: Mapping[str, Any]) -> ToolFailure:
    return ToolFailure(kind="protocol", message="the server spoke Greek", text="x")


def _run(fleet: Any, *calls: tuple[str, Any], **fields: Any) -> Any:
    fleet.server("s", {"bad": _bad, "lost": _lost}, **fields)
    echo = fleet.server("e", ["echo"])
    fleet.server("gone", ["t"]).broken = "`gone` exited with 3"
    fleet.agent(proxy=True)

    async def main() -> None:
        async with fleet.open() as runtime:
            session = runtime.session(name="c1", correlation_id="e-1", user="u7", tenant="acme")
            for name, arguments in calls:
                await session.call(name, arguments)

    asyncio.run(main())
    return echo


def test_a_call_is_a_span_by_the_conventions(fleet: Any, seen: Seen) -> None:
    """A call over MCP is a client span `tools/call {tool}`, with who and what and nothing of its content."""
    _run(fleet, ("e__echo", {"text": "p4ssw0rd"}))
    span, attributes = seen.one("tools/call")
    assert (span.name, span.kind, span.status.status_code) == ("tools/call echo", SpanKind.CLIENT, StatusCode.UNSET)
    assert attributes == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "echo",
        "gen_ai.agent.name": "supervisor",
        "gen_ai.conversation.id": "c1",
        "network.transport": "pipe",
        "octoc.server.name": "e",
        "octoc.correlation_id": "e-1",
        "octoc.tenant": "acme",
        "enduser.id": "u7",
    }
    connect, _ = seen.one("connect e")
    assert connect.parent is not None
    assert span.context is not None
    assert connect.parent.span_id == span.context.span_id


def test_the_trace_goes_on_in_the_server(fleet: Any, seen: Seen) -> None:
    """The server gets the span's W3C trace context in the call's `_meta`."""
    echo = _run(fleet, ("e__echo", {}))
    span, _ = seen.one("tools/call")
    assert span.context is not None
    trace_id, span_id = span.context.trace_id, span.context.span_id
    ids = {"octoc/tenant": "acme", "octoc/user": "u7", "octoc/correlationId": "e-1"}
    assert {key: value for key, value in echo.calls[0].meta.items() if key != "traceparent"} == ids
    assert echo.calls[0].meta["traceparent"].startswith(f"00-{trace_id:032x}-{span_id:016x}-")


@pytest.mark.parametrize(
    "name,error,description",
    [
        ("s__bad", "tool_error", None),
        ("s__lost", "protocol", "the server spoke Greek; it may have taken effect"),
        ("gone__t", "connect_failed", "`gone` exited with 3"),
    ],
)
def test_a_failure_has_its_type(fleet: Any, seen: Seen, name: str, error: str, description: str | None) -> None:
    """`error.type` is the kind of the failure; the words of a tool are content, and not in the span."""
    _run(fleet, (name, {}))
    span, attributes = seen.one("tools/call")
    assert attributes["error.type"] == error
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, description)
    assert "p4ssw0rd" not in span.to_json()


def test_a_call_over_a_quota_is_a_span_of_its_kind(fleet: Any, seen: Seen) -> None:
    """What a quota refuses is seen as a failed call of the tool, though no server is asked."""
    fleet.settings = attrs.evolve(fleet.settings, quota=Quota(calls=1, window_s=60))
    server = fleet.server("q", ["ask"])
    fleet.agent(direct=(0,))

    async def main() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            for _ in range(2):
                await session.call("q__ask", {})

    asyncio.run(main())
    spans = seen.spans("tools/call ask")
    assert [(span.attributes or {}).get("error.type") for span in spans] == [None, "rate_limited"]
    assert len(server.calls) == 1


def test_a_cancelled_call_ends_its_span(fleet: Any, seen: Seen) -> None:
    """A call whose task is cancelled has a span that says so."""
    began = asyncio.Event()

    async def wait(_: Mapping[str, Any]) -> ToolResult:
        began.set()
        await asyncio.Event().wait()
        return ToolResult.of_text("never")

    fleet.server("s", {"slow": wait})
    fleet.agent(proxy=True)

    async def main() -> None:
        async with fleet.open() as runtime:
            task = asyncio.create_task(runtime.session().call("s__slow", {}))
            async with asyncio.timeout(120):
                await began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert seen.one("tools/call")[1]["error.type"] == "cancelled"


def test_a_server_that_cannot_be_reached_fails_its_connection(fleet: Any, seen: Seen) -> None:
    """The span of each try to connect that was refused has the reason."""
    _run(fleet, ("gone__t", {}))
    tries = seen.spans("connect gone")
    assert tries
    assert {dict(span.attributes or {})["error.type"] for span in tries} == {"connect_failed"}
    assert {span.status.description for span in tries} == {"`gone` exited with 3"}


def test_content_is_recorded_only_when_asked_for(fleet: Any, seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    """With OpenTelemetry's own variable arguments and results stand in the span."""
    monkeypatch.setenv(telemetry.CAPTURE, "true")
    _run(fleet, ("e__echo", {"text": "hi"}))
    _, attributes = seen.one("tools/call")
    assert attributes["gen_ai.tool.call.arguments"] == '{"text": "hi"}'
    assert attributes["gen_ai.tool.call.result"] == '{"text": "hi"}'


def test_calls_are_measured(fleet: Any, seen: Seen) -> None:
    """Both histograms of the conventions have a point per tool and outcome, in seconds, with their boundaries."""
    _run(fleet, ("e__echo", {}), ("e__echo", {}), ("gone__t", {}))
    data = seen.reader.get_metrics_data()
    assert data is not None
    found: dict[str, dict[str, Any]] = {}
    for resource in data.resource_metrics:
        for scope in resource.scope_metrics:
            if scope.scope.name == "octoc":
                found |= {metric.name: metric for metric in scope.metrics}  # type: ignore[misc]
    assert sorted(found) == ["gen_ai.execute_tool.duration", "mcp.client.operation.duration"]
    for metric in map(vars, found.values()):
        points = {point.attributes["gen_ai.tool.name"]: point for point in metric["data"].data_points}
        assert metric["unit"] == "s"
        assert points["echo"].count >= 2
        assert points["t"].attributes["error.type"] == "connect_failed"
        assert points["echo"].explicit_bounds[:3] == (0.01, 0.02, 0.05)


def test_routing_and_activation_are_spans(fleet: Any, seen: Seen) -> None:
    """A message is a span of routing, without its text, and one of activation with the connection below it."""
    fleet.server("time", ["now"])
    fleet.server("other", ["o"])
    fleet.capability("time", fleet.grant("time"), triggers=["what time is it", "the time now"])
    fleet.capability("other", fleet.grant("other"), triggers=["order a pizza", "pizza please"])
    fleet.agent(tools=())

    async def main() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            await session.on_user_message("what time is it now")
            await session.activate("nothing")

    asyncio.run(main())
    route, attributes = seen.one("octoc.route")
    assert attributes["octoc.capability"] == "time"
    assert "what" not in route.to_json()
    done, refused = seen.spans("octoc.activate")
    assert dict(done.attributes or {})["octoc.changed"] is True
    assert dict(refused.attributes or {})["error.type"] == "refused"
    assert seen.one("connect time")[0].parent == done.context


@pytest.mark.parametrize(
    "url,address",
    [
        ("https://mcp.example.com/x", {"server.address": "mcp.example.com", "server.port": 443}),
        ("http://127.0.0.1:8080/mcp?key=1", {"server.address": "127.0.0.1", "server.port": 8080}),
        ("https://${HOST}/mcp", {}),
        ("https://user:pw@mcp.example.com", {}),
        ("http://h:99999/", {}),
        ("", {}),
    ],
)
def test_an_address_is_told_where_it_holds_no_secret(url: str, address: dict[str, Any]) -> None:
    """A written address gives host and port; placeholders, users and passwords are left out."""
    assert telemetry._address(url) == address


def test_without_opentelemetry_nothing_of_it_is_loaded(fleet: Any) -> None:
    """A process that does not use OpenTelemetry makes calls without importing it, though it is installed."""
    fleet.agent(proxy=True)
    program = f"""
import asyncio, sys
from octoc.plugin import PythonTool
from octoc.plugin.manager import plugins_of
from octoc.runtime import Runtime

async def main():
    async with Runtime.open({str(fleet.write())!r}, plugins=plugins_of()) as runtime:
        session = runtime.session()
        print((await session.call("nothing", {{}})).kind)
        print(await session.activate("nothing"))

asyncio.run(main())
print(any(name.split(".")[0] == "opentelemetry" for name in sys.modules))
"""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.splitlines()[0] == "not_found", done.stderr
    assert done.stdout.splitlines()[-1] == "False"
