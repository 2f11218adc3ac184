import asyncio
import datetime as dt
import io
import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest

from octoc.plugin import AuditLog, PluginError, ServerTarget, hookimpl
from octoc.plugin.manager import plugins_of
from octoc.results import Caller, ContentPart, ToolResult
from octoc.runtime import Runtime

NOON = dt.datetime(2026, 11, 22, 12, 0, tzinfo=dt.UTC)


class Broken:
    """An observer that fails."""

    @hookimpl
    def octoc_call_finished(self, server: str) -> None:
        raise RuntimeError(server)


async def _bad(_: Mapping[str, Any]) -> ToolResult:
    return ToolResult.of_text("it broke", is_error=True)


async def _picture(_: Mapping[str, Any]) -> ToolResult:
    image = ContentPart(type="image", data={"type": "image", "data": "A" * 400, "mimeType": "image/png"})
    return ToolResult(content=(ContentPart(type="text", text="see"), image))


def _runtime(fleet: Any, **options: Any) -> Runtime:
    fleet.server("s", {"bad": _bad, "picture": _picture})
    fleet.server("e", ["echo"])
    fleet.server("gone", ["t"]).broken = "`gone` exited with 3"
    fleet.agent(proxy=True)
    opened: Runtime = fleet.open(**options)
    return opened


def _events(fleet: Any, calls: list[tuple[str, Any]], *more: object, **options: Any) -> list[dict[str, Any]]:
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding="ascii")

    async def main() -> None:
        audit = AuditLog(stream, now=lambda: NOON, **options)
        async with _runtime(fleet, observers=[audit, *more]) as runtime:
            session = runtime.session(name="c1", tenant="acme", user="u7", account="t1", correlation_id="e-1")
            for name, arguments in calls:
                await session.call(name, arguments)

    asyncio.run(main())
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_a_line_says_who_what_when_how_long_how_much_and_how_it_ended(fleet: Any) -> None:
    """A call that went well is one line with its caller, its tool, its time and the size of its result."""
    (event,) = _events(fleet, [("e__echo", {"text": "hi"})])
    assert event.pop("seconds") >= 0
    assert event == {
        "time": "2026-11-22T12:00:00.000+00:00",
        "event": "tool_call",
        "agent": "supervisor",
        "session": "c1",
        "tenant": "acme",
        "user": "u7",
        "account": "t1",
        "correlation_id": "e-1",
        "server": "e",
        "tool": "echo",
        "outcome": "ok",
        "result_chars": len('{"text": "hi"}'),
    }


def test_every_end_has_its_word(fleet: Any) -> None:
    """A tool's own failure, an unreachable server and the size of a picture have fields of their own."""
    calls: list[tuple[str, Any]] = [("s__bad", {}), ("gone__t", {}), ("s__picture", {})]
    bad, gone, picture = _events(fleet, calls)
    assert (bad["outcome"], bad["result_chars"]) == ("tool_error", 8)
    assert (gone["outcome"], gone["failure"], gone["sent"]) == ("connect_failed", "`gone` exited with 3", False)
    assert (picture["result_chars"], picture["result_media_bytes"]) == (3, 400)


def test_a_call_that_was_refused_is_audited(fleet: Any) -> None:
    """A tool that the agent does not have, asked for directly or through the proxy, is a line without a server."""
    calls = [("secrets__dump", {}), ("call_mcp_tool", {"tool_name": "secrets__dump"}), ("e__echo", ["no object"])]
    events = _events(fleet, calls)
    assert [(one["server"], one["tool"], one["outcome"], one["sent"]) for one in events] == [
        ("", "secrets__dump", "not_found", False),
        ("", "secrets__dump", "not_found", False),
        ("", "e__echo", "bad_request", False),
    ]


def test_a_tenant_that_may_not_use_the_agent_is_audited(fleet: Any) -> None:
    """Who asks an agent of other tenants for a tool leaves a line, though to that tenant nothing is there."""
    stream = io.StringIO()
    fleet.server("e", ["echo"])
    fleet.agent("ledger", proxy=True, tenants=["acme"])

    async def main() -> None:
        async with fleet.open(observers=[AuditLog(stream)]) as runtime:
            session = runtime.session("ledger", tenant="acme")
            await session.call("e__echo", {}, caller=Caller(agent="ledger", tenant="beta", user="u2"))

    asyncio.run(main())
    (event,) = map(json.loads, stream.getvalue().splitlines())
    assert (event["tool"], event["tenant"], event["user"], event["outcome"]) == ("e__echo", "beta", "u2", "not_found")


def test_arguments_are_written_only_when_asked_for(fleet: Any, new_fleet: Any) -> None:
    """Without `arguments=True` nothing of a call's arguments or result is in the log."""
    calls = [("e__echo", {"text": "p4ssw0rd"})]
    assert "p4ssw0rd" not in json.dumps(_events(fleet, calls))
    (event,) = _events(new_fleet(), calls, arguments=True)
    assert event["arguments"] == {"text": "p4ssw0rd"}


def test_no_call_can_write_what_keeps_it_out_of_the_log(fleet: Any) -> None:
    """Lone surrogates in a name or in arguments, and arguments that are not JSON, still give a valid line."""
    nested: list[Any] = []
    nested.append(nested)
    calls: list[tuple[str, Any]] = [
        ("e__\ud800", {}),
        ("e__echo", {"text": "é\ud83d"}),
        ("e__echo", {"text": nested}),
        ("e__echo", {(1, 2): 3}),
    ]
    events = _events(fleet, calls, arguments=True)
    assert [event["tool"].removeprefix("e__") for event in events] == ["\ud800", "echo", "echo", "echo"]
    assert events[1]["arguments"] == {"text": "é\ud83d"}
    assert events[2]["arguments"] == events[3]["arguments"] == "the input is not JSON"


def test_one_observers_failure_is_not_anothers(fleet: Any, caplog: pytest.LogCaptureFixture) -> None:
    """An observer that raises is logged by name; the audit log beside it has its line, and so has the host's fleet."""
    assert len(_events(fleet, [("e__echo", {})], Broken())) == 1
    assert "a plugin failed: object:2:Broken: RuntimeError: e" in caplog.text
    assert len(fleet.finished) == 1


def test_the_log_of_calls_has_the_same_fields(fleet: Any, caplog: pytest.LogCaptureFixture) -> None:
    """At debug, `octoc.calls` has a record per call with the fields of an audit event, for structured logs."""
    caplog.set_level(logging.DEBUG, "octoc.calls")
    _events(fleet, [("e__echo", {"text": "p4ssw0rd"})])
    (record,) = [record for record in caplog.records if record.name == "octoc.calls"]
    fields = vars(record)
    assert (fields["server"], fields["tool"], fields["outcome"], fields["tenant"]) == ("e", "echo", "ok", "acme")
    assert record.getMessage().startswith("supervisor called e/echo: ok after ")
    assert "p4ssw0rd" not in str(fields)


def test_plugins_join_before_they_work() -> None:
    """An object that joins after the first question is refused, as some questions would have missed it."""
    plugins = plugins_of()
    plugins.join(Broken())
    plugins.tools(ServerTarget(name="x", transport="builtin"))
    with pytest.raises(PluginError, match="before the first question"):
        plugins.join(Broken())
