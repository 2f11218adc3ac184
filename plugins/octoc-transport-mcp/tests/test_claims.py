"""The owner of a question: decided when it arrives, the only call that the server works on, or none."""

from __future__ import annotations

import asyncio
import contextvars
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from mcp_types import JSONRPCRequest, JSONRPCResponse

from octoc.plugin import AskingConnection, Caller, Connection, Host, ServerTarget, ToolCall, ToolResult
from octoc.testing import FAULTY_STDIO
from octoc_transport_mcp import octoc_make_transport
from octoc_transport_mcp.claims import ELICITATION, MAX_QUESTIONS, QUESTIONS, ROOTS, SAMPLING, Claim, Claims
from octoc_transport_mcp.pending_requests import PendingRequests

ACME, UMBRELLA = Caller(tenant="acme"), Caller(tenant="umbrella")


def call() -> ToolCall:
    """A call whose tool asks."""
    return ToolCall(tool="fault", arguments={}, timeout_s=20.0)


def run(era: str, host: Host, scenario: Callable[[Connection], Awaitable[None]]) -> None:
    """Run `scenario` on a connection to a server that asks its user something during each call."""
    args = ("-I", "-S", FAULTY_STDIO, "ask-elicitation", "--era", era)
    target = ServerTarget(name="s", transport="stdio", command=sys.executable, args=args)

    async def connected() -> None:
        transport = octoc_make_transport("stdio")
        assert transport is not None
        connection = await transport.connect(target, host)
        try:
            await scenario(connection)
        finally:
            await connection.close()

    asyncio.run(connected())


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("method", [ELICITATION, SAMPLING, ROOTS])
def test_a_question_belongs_to_the_one_call_that_the_server_works_on(method: str) -> None:
    """One claim owns it, claims of two callers do not, and each question has an owner once."""
    claims = Claims(30, QUESTIONS)
    acme, umbrella = Claim(ACME), Claim(UMBRELLA)
    claims.open(1, acme)
    claims.note_question("q", method)
    assert claims.owner("q").claim is acme
    assert claims.owner("q").claim is None
    claims.open(2, umbrella)
    claims.note_question("q", method)
    assert (claims.owner("q").claim, claims.asks) == (None, True)
    claims.answered(1)
    claims.note_question("q", method)
    assert claims.owner("q").claim is umbrella


def test_outside_of_calls_only_roots_are_the_connections() -> None:
    """Without a call, a question for roots goes to the host in general, and one for consent is declined."""
    claims = Claims(30, QUESTIONS)
    claims.note_question(1, ROOTS)
    claims.note_question(2, ELICITATION)
    assert [claims.owner(number).of_connection for number in (1, 2)] == [True, False]


@pytest.mark.parametrize(
    "callers, given_up, asked",
    [
        (("chat", "chat"), False, {ELICITATION, SAMPLING, ROOTS}),
        (("chat", "chat"), True, {ROOTS}),
        (("chat", "other"), False, set()),
        ((None, None), False, set()),
    ],
    ids=["one conversation", "one of its calls was given up", "two conversations", "conversations without a name"],
)
def test_calls_side_by_side_of_one_conversation_are_asked_together(
    callers: tuple[str | None, str | None], given_up: bool, asked: set[str]
) -> None:
    """Whichever call a question is for, it is the same client's; one that was given up must not be consented to."""
    claims = Claims(30, QUESTIONS)
    for number, session in enumerate(callers):
        caller = Caller(tenant="acme", session=session, correlation_id=f"{number}")
        claims.open(number, Claim(caller))
    if given_up:
        claims.left(0)
    found = set()
    for method in (ELICITATION, SAMPLING, ROOTS):
        claims.note_question("q", method)
        if claims.owner("q").claim is not None:
            found.add(method)
    assert found == asked


def test_a_server_that_never_asked_keeps_its_connection() -> None:
    """A call that was given up replaces a connection only after the server's first question."""
    clock = Clock()
    claims = Claims(30, QUESTIONS, clock=clock)
    claims.open(1, Claim(ACME))
    claims.left(1)
    clock.now = 31.0
    assert (claims.abandoned, claims.stale) == (True, False)
    claims.note_question("q", ELICITATION)
    assert claims.stale


def test_the_stream_that_carries_a_question_says_whose_it_is() -> None:
    """Over HTTP the call on whose stream it comes is asked, and none when that one has been answered."""
    claims = Claims(30, QUESTIONS)
    acme = Claim(ACME)
    claims.open(1, acme)
    claims.open(2, Claim(UMBRELLA))
    claims.note_question("a", ELICITATION, 1)
    claims.answered(1)
    claims.note_question("b", ELICITATION, 1)
    assert (claims.owner("a").claim, claims.owner("b").claim, claims.asks) == (acme, None, False)


def test_a_claim_stays_when_its_caller_leaves_and_makes_the_connection_stale_after_the_limit() -> None:
    """A late answer ends it; where the host answers nothing it never makes the connection stale."""
    clock = Clock()
    for answered, stale in ((QUESTIONS, True), (frozenset[str](), False)):
        clock.now = 0.0
        claims = Claims(30, answered, clock=clock)
        claims.open(1, Claim(ACME))
        assert (claims.abandoned, claims.stale) == (False, False)
        claims.left(1)
        claims.open(2, Claim(UMBRELLA))
        claims.note_question("q", ELICITATION)
        assert claims.owner("q").claim is None
        clock.now = 29.0
        assert (claims.abandoned, claims.stale) == (True, False)
        clock.now = 30.0
        assert (claims.abandoned, claims.stale) == (True, stale)
        claims.answered(1)
        assert (claims.abandoned, claims.stale) == (False, False)


def test_the_order_of_a_servers_messages_decides() -> None:
    """A question before the answer to its call is that call's, although both are read at once."""
    claims = Claims(30, QUESTIONS)
    pending = PendingRequests(1000, claims=claims)
    first, second = Claim(ACME), Claim(UMBRELLA)
    for number, claim in ((1, first), (2, second)):
        pending.note_sent(JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/call"))
        claims.open(number, claim)
    claims.answered(2)
    question = JSONRPCRequest(jsonrpc="2.0", id="q", method=ELICITATION)
    answer = JSONRPCResponse(jsonrpc="2.0", id=1, result={})
    for admitted in [one for line in (question, answer) for one in pending.admit(line.model_dump_json().encode())]:
        pending.note(admitted)
    claims.open(2, second)
    assert claims.owner("q").claim is first


@pytest.mark.parametrize("other", [UMBRELLA, Caller(tenant="acme", session="another")])
def test_a_question_beside_the_answers_is_asked_where_all_calls_are_of_one_conversation(other: Caller) -> None:
    """On a stream of its own it may come after the answer to its call, so with two conversations it has no owner."""
    claims = Claims(30, QUESTIONS)
    claims.open(1, Claim(ACME))
    claims.note_question("a", ELICITATION, ordered=False)
    claims.open(2, Claim(other))
    claims.answered(2)
    claims.note_question("b", ELICITATION, ordered=False)
    assert [claims.owner(name).claim is not None for name in ("a", "b")] == [True, False]


def test_questions_that_are_never_asked_for_are_bounded() -> None:
    """The oldest of more questions than are remembered has no owner."""
    claims = Claims(30, QUESTIONS)
    claims.open(1, Claim(ACME))
    for number in range(MAX_QUESTIONS + 1):
        claims.note_question(number, SAMPLING)
    assert claims.owner(0).claim is None
    assert claims.owner(MAX_QUESTIONS).claim is not None


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_the_host_is_asked_in_the_context_of_the_call(era: str) -> None:
    """What the host has set before a call is there when the call's question is put to it, on one connection for all."""
    user = contextvars.ContextVar("user", default="missing")
    asked: list[str] = []

    async def elicit(_: str, __: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.append(user.get())
        return {"action": "decline"}

    async def scenario(connection: Connection) -> None:
        for name in ("octo", "pus"):
            user.set(name)
            assert isinstance(await connection.call(call()), ToolResult)
        user.set("missing")
        assert isinstance(connection, AskingConnection)
        assert connection.asks

    run(era, Host(elicit=elicit), scenario)
    assert asked == ["octo", "pus"]


def test_a_question_is_withdrawn_when_its_caller_leaves() -> None:
    """The host's callback is cancelled with the call, and the server gets an error."""
    asked = asyncio.Event()
    withdrawn: list[bool] = []

    async def elicit(_: str, __: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            withdrawn.append(True)
        raise AssertionError("nothing sets it")

    async def scenario(connection: Connection) -> None:
        given_up = asyncio.create_task(connection.call(call()))
        await asked.wait()
        given_up.cancel()
        await asyncio.wait((given_up,))
        while not withdrawn:  # noqa: ASYNC110  # the callback's own task says so
            await asyncio.sleep(0.001)

    run("handshake", Host(elicit=elicit), scenario)
    assert withdrawn == [True]
