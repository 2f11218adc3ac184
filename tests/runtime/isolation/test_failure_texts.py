"""Two tenants share one real server: what a failure says reaches the call that failed, and the log."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest

from octoc.plugin.manager import load_plugins
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import Runtime, Session
from octoc.runtime.calls import Outcome

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet

IBAN = "DE89370400440532013000"
START = "licence of account 4711 ended"
BANK = """
import json, os, sys, time

start = sys.argv[1]
if os.path.exists(start):
    print(open(start).read(), file=sys.stderr, flush=True)
    sys.exit(3)
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    body = {"error": {"code": -32601, "message": "unknown method"}}
    if message["method"] == "initialize":
        info = {"name": "bank", "version": "1"}
        body = {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
    elif message["method"] == "tools/list":
        body = {"result": {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in ("pay", "read")]}}
    elif message["method"] == "tools/call":
        given = message["params"]["arguments"]
        if "iban" in given:
            print("booking " + given["iban"], file=sys.stderr, flush=True)
        end = given.get("end")
        if end == "garbage":
            print("booked " + given["iban"], flush=True)
            continue
        if end == "hang":
            continue
        if end == "die":
            time.sleep(0.1)
            sys.exit(4)
        if end == "error without an id":
            message["id"] = None
            body = {"error": {"code": -32000, "message": "not booked: " + given["iban"]}}
        elif end == "error":
            body = {"error": {"code": -32000, "message": "not booked: " + given["iban"]}}
        else:
            body = {"result": {"content": [{"type": "text", "text": "done"}]}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
"""


@pytest.fixture
def bank(fleet: Fleet, tmp_path: Path) -> Callable[[Callable[[Session, Session], Awaitable[None]]], None]:
    """Run a scenario with the sessions of two tenants: the payer has `pay`, the reader `read`, both of one server."""
    script = tmp_path / "bank.py"
    script.write_text(BANK, encoding="utf-8")
    fleet.server(
        "bank", ["pay", "read"], command=sys.executable, args=(str(script), str(tmp_path / "start")), retry="never"
    )
    fleet.settings = attrs.evolve(fleet.settings, breaker_failures=2)
    fleet.agent("payer", tenants=("a",), tools=fleet.index("bank/pay"), direct=fleet.index("bank/pay"))
    fleet.agent("reader", tenants=("b",), tools=fleet.index("bank/read"), direct=fleet.index("bank/read"))

    def run(scenario: Callable[[Session, Session], Awaitable[None]]) -> None:
        async def body() -> None:
            async with Runtime.open(fleet.write(), plugins=load_plugins(["transport-mcp"])) as runtime:
                await scenario(runtime.session("payer", tenant="a"), runtime.session("reader", tenant="b"))

        asyncio.run(body())

    return run


def _words(outcome: Outcome) -> str:
    return outcome.text if isinstance(outcome, ToolResult) else f"{outcome.message}\n{outcome.text}"


def _foreign(outcome: Outcome) -> list[str]:
    """Return what of the payer's the reader has read."""
    return [word for word in (IBAN, "4711", "pay", "booking", "booked") if word in _words(outcome)]


def test_a_failed_attempt_to_connect_speaks_to_the_call_that_began_it(
    bank: Callable[..., None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Others that wait for it, or come while the server is left alone, get its kind and the wait."""
    (tmp_path / "start").write_text(START, encoding="utf-8")

    async def scenario(payer: Session, reader: Session) -> None:
        first = asyncio.create_task(payer.call("bank/pay", {}))
        await asyncio.sleep(0)
        waited = await reader.call("bank/read", {})
        assert START in _words(await first)
        assert isinstance(waited, ToolFailure)
        assert not _foreign(waited)
        assert START in caplog.text
        (tmp_path / "start").write_text("another reason", encoding="utf-8")
        refused = await reader.call("bank/read", {})
        assert isinstance(refused, ToolFailure)
        assert not _foreign(refused)

    bank(scenario)
