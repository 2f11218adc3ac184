"""What a call gets when an HTTP server misbehaves: a real runtime, real sockets, and memory that cannot run away."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

import octoc_transport_mcp.connection
import octoc_transport_rest.connection
from octoc.bundle.model import Settings, ToolPolicy
from octoc.plugin.manager import load_plugins
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import Runtime
from octoc.testing import HTTP_FAULTS, Era, FaultyHttpServer, faulty_http

if TYPE_CHECKING:
    from octoc.runtime.session import Session
    from tests.runtime.conftest import Fleet

# Loaded here, so that no row's memory is theirs.
LOADED = (octoc_transport_mcp.connection, octoc_transport_rest.connection)
SECRET = "s3cr3t-t0ken-of-the-table"
ROOM_BYTES = 512 * 1024 * 1024
"""How much more memory than before a row the process may have: an allocation beyond that fails."""
PEAK_BYTES = 128 * 1024 * 1024
BUSY_S = 30.0
"""What a busy machine may add to a time limit."""
SHORT_S = 6.0
"""A time limit that is over before a server wants to be asked again: a longer one would be waited for."""
ERAS: tuple[Era, ...] = ("modern", "legacy", "sse", "rest")


@attrs.frozen(kw_only=True)
class Row:
    """What a fault comes to: `ok`, `error` (the tool's own), or a failure's kind, and words that the model reads.

    `sent` and `waits` (whether there is a time to wait) are a failure's; `after` is what `echo` comes to afterwards.
    """

    kind: str
    says: str = ""
    sent: bool = True
    waits: bool = False
    after: str = "ok"
    timeout_s: float = 60.0


HANGS = Row(kind="timeout", says="within 0.5 s", timeout_s=0.5)
PAGE = Row(kind="protocol", says="`text/html` where JSON was expected")
UNHEARD = Row(kind="timeout", says="within 0.5 s", timeout_s=0.5)
REDIRECTS = Row(kind="protocol", says="HTTP 307: it redirects, which is not followed")
MCP: dict[str, Row] = {
    "status_401": Row(kind="unauthorized", says="HTTP 401: look at what `TOKEN` holds", sent=False),
    "status_403": Row(kind="unauthorized", says="HTTP 403: its credentials may not do this", sent=False),
    "session_gone": Row(kind="ok", says="done"),
    "status_429": Row(
        kind="unavailable", says="(HTTP 429), try again in 7 s", sent=False, waits=True, timeout_s=SHORT_S
    ),
    "status_503": Row(kind="unavailable", says="(HTTP 503), try again in ", sent=False, waits=True, timeout_s=SHORT_S),
    "redirect_away": Row(kind="protocol", says="HTTP 307, a redirect to `http://127.0.0.1:"),
    "redirect_loop": Row(kind="protocol", says="answered with redirects without end"),
    "status_500": Row(kind="protocol", says="answered HTTP 500"),
    "echo_secret": Row(kind="protocol", says="answered HTTP 500: bad header ***"),
    "wrong_type": PAGE,
    "no_answer": Row(kind="protocol", says="answered HTTP 202"),
    "json_cut": Row(kind="protocol", says="a message that is not JSON"),
    "body_cut": Row(kind="connection_lost", says="closed the connection in the middle of its answer"),
    "sse_cut": Row(kind="connection_lost", says="ended its stream of events without an answer"),
    "reset": Row(kind="connection_lost", says="closed the connection before its answer"),
    "slow_headers": HANGS,
    "slow_body": HANGS,
    "silence": HANGS,
    "no_length": Row(kind="ok", says="done"),
    "header_flood": Row(kind="too_large", says="headers that are too long"),
    "gzip_bomb": Row(kind="too_large", says="more than 16777216 bytes"),
    "unknown_encoding": Row(kind="protocol", says="a content encoding that was not asked for"),
    "endless_body": Row(kind="too_large", says="more than 16777216 bytes"),
    "endless_event": Row(kind="too_large", says="an event of more than 16777216 bytes"),
    "bad_utf8": Row(kind="protocol", says="not UTF-8 at byte"),
    "half_character": Row(kind="ok", says="half \ufffd of \U0001f600"),
    "deep_json": Row(kind="protocol", says="nested too deep"),
    "many_elements": Row(kind="too_large", says="more than 250000 JSON elements, which is over the limit"),
    "wrong_id": Row(kind="protocol", says="the answer to another request"),
    "foreign_event": Row(kind="protocol", says="the answer to another request"),
    "six_redirects": Row(kind="protocol", says="answered with redirects without end"),
    "long_wait": Row(kind="unavailable", says="try again in 86400 s", sent=False, waits=True, timeout_s=SHORT_S),
    "not_a_number": Row(kind="protocol", says="a message that is not JSON"),
    "not_http": Row(kind="protocol", says="does not speak HTTP/1.1"),
}
# What differs: no session to end; one stream for all answers, beside which a POST's own body says nothing.
OTHERWISE: dict[Era, dict[str, Row]] = {
    "modern": {"session_gone": Row(kind="protocol", says="answered HTTP 404: no such session")},
    "legacy": {},
    "sse": {
        **dict.fromkeys(("wrong_type", "no_answer", "body_cut", "gzip_bomb", "unknown_encoding"), UNHEARD),
        **dict.fromkeys(("endless_body", "wrong_id", "foreign_event"), UNHEARD),
        "sse_cut": Row(kind="connection_lost", says="closed its stream of events"),
    },
    "rest": {
        "status_401": Row(kind="unauthorized", says=": look at what `TOKEN` holds", sent=False),
        "status_403": Row(kind="unauthorized", says=": its credentials may not do this", sent=False),
        "session_gone": Row(kind="not_found", says="HTTP 404"),
        "status_429": Row(kind="unavailable", says="; try again in 7 s", sent=False, waits=True, timeout_s=SHORT_S),
        "status_503": Row(kind="unavailable", says="; try again in ", sent=False, waits=True, timeout_s=SHORT_S),
        "redirect_away": REDIRECTS,
        "redirect_loop": REDIRECTS,
        "status_500": Row(kind="protocol", says="HTTP 500 and `text/html`"),
        "echo_secret": Row(kind="error", says="bad header ***"),
        "wrong_type": Row(kind="protocol", says="`text/html` where `application/json` was expected"),
        "no_answer": Row(kind="protocol", says="HTTP 202"),
        "json_cut": Row(kind="protocol", says="something that is not JSON"),
        "sse_cut": Row(kind="protocol", says="`text/event-stream` where `application/json` was expected"),
        "gzip_bomb": Row(kind="ok", says='{"jsonrpc": "2.0",'),
        "unknown_encoding": Row(kind="protocol", says="content encoding `br`, which was not asked for"),
        "endless_body": Row(kind="ok", says='{"jsonrpc": "xxx'),
        "endless_event": Row(kind="protocol", says="`text/event-stream` where"),
        "bad_utf8": Row(kind="protocol", says="it is not UTF-8"),
        "half_character": Row(kind="ok", says='{"text": "half \\ud83d of \\ud83d\\ude00"}'),
        "deep_json": Row(kind="protocol", says="nested too deeply"),
        "wrong_id": Row(kind="ok", says="done"),
        "foreign_event": Row(kind="protocol", says="`text/event-stream` where"),
        "six_redirects": REDIRECTS,
        "not_a_number": Row(kind="protocol", says="something that is not JSON"),
    },
}
TABLE = [(era, fault) for era in ERAS for fault in HTTP_FAULTS]


@pytest.fixture
def bounded() -> Iterator[Callable[[], int]]:
    """Limit what the process may allocate; a function that returns how far its memory has risen, in bytes."""
    before = _status("VmRSS")
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_status("VmSize") + ROOM_BYTES, hard))
    Path("/proc/self/clear_refs").write_text("5")
    try:
        yield lambda: _status("VmHWM") - before
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:"))


def add(fleet: Fleet, name: str, server: FaultyHttpServer | str, era: Era, **fields: Any) -> None:
    """Add a server of the table to a fleet."""
    transport = era if era in {"sse", "rest"} else "http"
    url = server if isinstance(server, str) else server.url
    headers = {"Authorization": "Bearer ${TOKEN}"}
    options = {"transport": transport, "url": url, "headers": headers, "timeout_s": 60.0, **fields}
    fleet.server(name, ["echo", "wait", *HTTP_FAULTS], **options)


def opened(fleet: Fleet, **settings: Any) -> Runtime:
    """Open a runtime on the fleet's servers, with the real transports."""
    fleet.settings = Settings(breaker_failures=0, **settings)
    fleet.agent(proxy=True)
    return Runtime.open(fleet.write(), plugins=load_plugins(["transport-mcp", "transport-rest"], {"TOKEN": SECRET}))


async def ask(session: Session, tool: str, **arguments: Any) -> ToolResult | ToolFailure:
    """Call a tool that is written `server/tool`."""
    return await session.call("call_mcp_tool", {"tool_name": tool, "arguments": arguments})


def kind_of(outcome: ToolResult | ToolFailure) -> str:
    """Return the word of a row for an outcome."""
    return outcome.kind if isinstance(outcome, ToolFailure) else "error" if outcome.is_error else "ok"


async def until(holds: Callable[[], bool]) -> None:
    """Give others time until it holds, or for so long that it never will."""
    for _ in range(3000):
        if holds():
            return
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("era, fault", TABLE, ids=[f"{era}-{fault}" for era, fault in TABLE])
def test_a_fault_costs_its_own_call_alone(fleet: Fleet, bounded: Callable[[], int], era: Era, fault: str) -> None:
    """The call fails in time and in one line, other calls and servers answer, and nothing stays behind."""
    row = OTHERWISE[era].get(fault, MCP[fault])
    policy = ToolPolicy(glob=fault, timeout_s=row.timeout_s)
    session_ends = era == "sse" and fault in {"sse_cut", "endless_event"}

    async def play() -> None:
        async with faulty_http(era) as trap, faulty_http(era) as good:
            async with faulty_http(era, elsewhere=trap.url.rpartition("/")[0]) as bad:
                add(fleet, "good", good, era)
                add(fleet, "bad", bad, era, policies=(policy,))
                async with opened(fleet) as runtime:
                    session = runtime.session()
                    assert kind_of(await ask(session, "bad/echo", text="first")) == "ok"
                    # A session that ends must not get this answer on its stream between parts of the fault's.
                    wait = 8.0 if session_ends else 0.2
                    beside = asyncio.create_task(ask(session, "bad/wait", text="other call", seconds=wait))
                    elsewhere = asyncio.create_task(ask(session, "good/wait", text="other server", seconds=0.2))
                    await until(
                        lambda: sum(b"wait" in request.body + request.path.encode() for request in bad.requests) > 0
                    )
                    async with asyncio.timeout(row.timeout_s + BUSY_S):
                        outcome = await ask(session, f"bad/{fault}")
                    assert kind_of(outcome) == row.kind, outcome
                    assert row.says in outcome.text
                    assert SECRET not in str(attrs.asdict(outcome))
                    if isinstance(outcome, ToolFailure):
                        assert (outcome.sent, outcome.retry_after_s is not None) == (row.sent, row.waits)
                        assert "\n" not in outcome.message
                        assert "<p>" not in outcome.text
                        lost = row.sent and row.kind in ("connection_lost", "timeout", "too_large", "protocol")
                        assert ("it may have taken effect" in outcome.text) == lost
                    assert "other server" in (await elsewhere).text
                    assert ("other call" in (await beside).text) != session_ends
                    await until(lambda: bad.acting == 0)
                    assert bad.acting == 0
                    again = await ask(session, "bad/echo", text="again")
                    assert (kind_of(again), "again" in again.text) == (row.after, True)
                await until(lambda: bad.open + good.open == 0)
                assert (bad.open, good.open) == (0, 0)
            assert trap.requests == []
            await until(lambda: len(asyncio.all_tasks()) == 1)
            assert [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []

    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    asyncio.run(play())
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors
    assert bounded() < PEAK_BYTES
