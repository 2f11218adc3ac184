"""Two tenants share one real server: what a failure says reaches the call that failed, and the log."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest

from octoc.bundle.model import ToolPolicy
from octoc.plugin.manager import load_plugins
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import Runtime, Session
from octoc.runtime.tools.server_call import Outcome

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
def bank(fleet: Fleet, tmp_path: Path) -> Bank:
    """Return what runs a scenario with two tenants' sessions on one server: the payer has `pay`, the reader `read`."""
    return Bank(fleet, tmp_path)


class Bank:
    """One server of two tenants; `start` is a file with which it fails at its start."""

    def __init__(self, fleet: Fleet, folder: Path) -> None:
        self._fleet = fleet
        self._script = folder / "bank.py"
        self.start = folder / "start"

    def run(
        self, scenario: Callable[[Session, Session], Awaitable[None]], pay_s: float = 60.0, read_s: float = 60.0
    ) -> None:
        """Run a scenario with time limits of the two tools."""
        fleet = self._fleet
        self._script.write_text(BANK, encoding="utf-8")
        fleet.server(
            "bank",
            ["pay", "read"],
            command=sys.executable,
            args=(str(self._script), str(self.start)),
            retry="never",
            policies=[ToolPolicy(glob="pay", timeout_s=pay_s), ToolPolicy(glob="read", timeout_s=read_s)],
        )
        fleet.settings = attrs.evolve(fleet.settings, breaker_failures=2)
        for agent, tenant, tool in (("payer", "a", "bank/pay"), ("reader", "b", "bank/read")):
            fleet.agent(agent, tenants=(tenant,), tools=fleet.index(tool), direct=fleet.index(tool))

        async def body() -> None:
            async with Runtime.open(fleet.write(), plugins=load_plugins(["transport-mcp"])) as runtime:
                await scenario(runtime.session("payer", tenant="a"), runtime.session("reader", tenant="b"))

        asyncio.run(body())


async def connected(session: Session) -> None:
    """Connect the server outside of the short time limits of the calls below."""
    async with session.state.loaded.pool.use("bank"):
        pass


def _words(outcome: Outcome) -> str:
    return outcome.text if isinstance(outcome, ToolResult) else f"{outcome.message}\n{outcome.text}"


def _foreign(outcome: Outcome) -> list[str]:
    """Return what of the payer's the reader has read."""
    return [word for word in (IBAN, "4711", "pay", "booking", "booked") if word in _words(outcome)]


def test_a_failed_attempt_to_connect_speaks_to_the_call_that_began_it(
    bank: Bank, caplog: pytest.LogCaptureFixture
) -> None:
    """Calls that wait for it, or come while the circuit is open, get its kind and the wait."""
    bank.start.write_text(START, encoding="utf-8")

    async def scenario(payer: Session, reader: Session) -> None:
        first = asyncio.create_task(payer.call("bank/pay", {}))
        while not payer.state.loaded.pool["bank"].tasks:  # noqa: ASYNC110  # until the attempt has begun
            await asyncio.sleep(0)
        waited = await reader.call("bank/read", {})
        assert START in _words(await first)
        assert isinstance(waited, ToolFailure)
        assert not _foreign(waited)
        assert START in caplog.text
        bank.start.write_text("another reason", encoding="utf-8")
        refused = await reader.call("bank/read", {})
        assert isinstance(refused, ToolFailure)
        assert not _foreign(refused)

    bank.run(scenario)


@pytest.mark.parametrize("end", ["hang", "die", "garbage", "error", "error without an id"])
def test_a_failed_call_speaks_to_nobody_else(bank: Bank, caplog: pytest.LogCaptureFixture, end: str) -> None:
    """Its server's words reach the only caller of a process and the log; with two callers, the log alone."""
    payment = {"iban": IBAN, "end": end}

    async def scenario(payer: Session, reader: Session) -> None:
        await connected(payer)
        alone = await payer.call("bank/pay", payment)
        assert not alone.ok
        assert IBAN in _words(alone)
        await connected(payer)
        assert not _foreign(await reader.call("bank/read", {}))
        caplog.clear()
        paid, read = await asyncio.gather(
            payer.call("bank/pay", payment), reader.call("bank/read", {} if end == "die" else {"end": "hang"})
        )
        assert not paid.ok
        assert not read.ok
        assert not _foreign(read)
        # An answer belongs to its own call, also when other callers are connected.
        assert (IBAN in _words(paid)) == (end == "error")
        assert IBAN in caplog.text or end == "error"
        for _ in range(3):
            assert not _foreign(await reader.call("bank/read", {"end": "die"}))

    answered = end in ("die", "error")
    bank.run(scenario, pay_s=60.0 if answered else 3.0, read_s=60.0 if end == "die" else 1.0)
