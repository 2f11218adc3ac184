"""Assigns a server's questions to calls, by the claims of the calls that run at the server.

A server's request does not name a call. In the handshake era it belongs to a call that the server still works on. That
may be a call that timed out or was cancelled, so its claim stays until the server answers it. The owner of a question
is decided when the question arrives, in the order of the server's messages. In the modern era a question is part of
the answer to its own call, and needs no claim.
"""

from __future__ import annotations

import contextvars
import itertools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.exceptions import MCPError

from octoc.plugin import Caller
from octoc_transport_mcp.logs import ServerLogs
from octoc_transport_mcp.outbound import Sender

if TYPE_CHECKING:
    import asyncio

    from mcp.shared.dispatcher import CallOptions, Outbound
    from mcp_types import RequestId

log = logging.getLogger(__name__)

FIRST_ID = 1_000_000_000
"""First id of calls with a claim. The SDK counts its own requests from 1, and ids of running requests must differ."""
MAX_QUESTIONS = 256
"""Questions kept between their arrival and their answer; beyond it the oldest is dropped, and declined."""
ELICITATION, SAMPLING, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"
QUESTIONS = frozenset({ELICITATION, SAMPLING, ROOTS})
TOOLS_CALL = "tools/call"
ANSWERED = frozenset({TOOLS_CALL, "resources/read", "prompts/get"})
"""Methods during which a server may ask something of the caller."""
REQUESTS = ANSWERED | {"completion/complete", "resources/subscribe", "subscriptions/listen"}
"""Methods of an `Attempt`."""


class Attempt:
    """Whether a call's request was written; if not, the server cannot have begun it."""

    def __init__(self, *, over_pipe: bool = True) -> None:
        self.written = False
        self._over_pipe = over_pipe

    @property
    def unsent(self) -> bool:
        """Whether the request certainly never reached the server. Over HTTP this is unknown here."""
        return self._over_pipe and not self.written


ATTEMPT: contextvars.ContextVar[Attempt | None] = contextvars.ContextVar("octoc_mcp_attempt", default=None)


@attrs.define(eq=False)
class Claim:
    """A call that the server works on: its caller, and the context in which the host answers its questions.

    `declined` are the kinds of questions without an answer; `crowded` is whether other calls were the reason.
    """

    caller: Caller = attrs.field(factory=Caller)
    context: contextvars.Context = attrs.field(factory=contextvars.copy_context)
    declined: list[str] = attrs.field(factory=list)
    crowded: bool = False
    left_at: float | None = None
    asking: set[asyncio.Task[Any]] = attrs.field(factory=set)


@attrs.frozen(eq=False)
class Owner:
    """Owner of a question: a claim, the connection (`roots/list` outside of calls), or no one."""

    claim: Claim | None = None
    of_connection: bool = False
    among: tuple[Claim, ...] = ()
    """The calls that the question may belong to, if several."""


CLAIM: contextvars.ContextVar[Claim | None] = contextvars.ContextVar("octoc_mcp_claim", default=None)


class Claims:
    """The claims on one connection, and the owners of the questions that arrived on it.

    Args:
        limit_s: seconds after which a connection with the claim of a call without a caller takes no new call.
        answered_by_host: the methods that the host answers.
    """

    def __init__(
        self,
        limit_s: float,
        answered_by_host: frozenset[str] = frozenset(),
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit_s = limit_s
        self._answered_by_host = answered_by_host
        self._clock = clock
        self._open: dict[RequestId, Claim] = {}
        self._owners: dict[RequestId, Owner] = {}
        self._conversation: Caller | None = None
        self._is_shared = False
        self.logs = ServerLogs()
        """The server's log messages, and the calls that want them."""
        self.asks = False
        """Whether the server asked the host a question on a stream that all calls share."""

    @property
    def abandoned(self) -> bool:
        """Whether the server may still work on a call without a caller."""
        return any(claim.left_at is not None for claim in self._open.values())

    @property
    def stale(self) -> bool:
        """Whether a call without a caller may have run for longer than the limit at a server that asks questions.

        A server that never asked is not replaced: it may keep state, and a cancelled call gets no answer. Its first
        question is declined if it may belong to a call without a caller.
        """
        if not self.asks:
            return False
        oldest = self._clock() - self._limit_s
        return any(claim.left_at is not None and claim.left_at <= oldest for claim in self._open.values())

    def open(self, request: RequestId, claim: Claim) -> None:
        """Note that a call is being sent."""
        self._open[coerce_request_id(request)] = claim
        conversation = _conversation_of(claim)
        self._is_shared = self._is_shared or self._conversation not in (None, conversation)
        self._conversation = conversation

    def answered(self, request: RequestId) -> None:
        """Note that the server answered a call, or certainly did not begin it: its claim ends."""
        self._open.pop(coerce_request_id(request), None)

    def left(self, request: RequestId) -> None:
        """Note that a call has no caller any more: its claim stays, and its questions are withdrawn."""
        claim = self._open.get(coerce_request_id(request))
        if claim is None:
            return
        claim.left_at = self._clock()
        for task in claim.asking:
            task.cancel()

    def is_open(self, request: RequestId) -> bool:
        """Return whether the server works on a call."""
        return coerce_request_id(request) in self._open

    def note_question(
        self, question: RequestId, method: str, carrier: RequestId | None = None, *, ordered: bool = True
    ) -> None:
        """Note that the server sent a request, and decide which call owns it.

        Args:
            carrier: our request whose own stream brought it.
            ordered: whether it came in order with the answers to calls. If not, the answer to its own call may have
                come first, so that the owner is known only if all calls so far belong to one conversation.
        """
        if method not in QUESTIONS:
            return
        if carrier is None:
            self.note_asked(method)
        while len(self._owners) >= MAX_QUESTIONS:
            del self._owners[next(iter(self._owners))]
        self._owners[coerce_request_id(question)] = (
            Owner(among=tuple(self._open.values()))
            if carrier is None and not ordered and self._is_shared
            else self._owner(method, carrier)
        )

    def note_asked(self, method: str) -> None:
        """Note that the server asks for something that the host answers."""
        self.asks = self.asks or method in self._answered_by_host

    def _owner(self, method: str, carrier: RequestId | None) -> Owner:
        running = tuple(self._open.values())
        if carrier is not None:
            return Owner(self._open.get(coerce_request_id(carrier)))
        if not running:
            return Owner(of_connection=method == ROOTS)
        if len(running) == 1 or (_is_one_conversation(running) and not _has_given_up(running, method)):
            return Owner(running[-1])
        return Owner(among=running)

    def owner(self, question: RequestId) -> Owner:
        """Return the owner of a question, and forget it."""
        return self._owners.pop(coerce_request_id(question), Owner())


def _is_one_conversation(claims: Sequence[Claim]) -> bool:
    """Return whether all calls belong to one named conversation: then the same client answers for each of them."""
    conversations = set(map(_conversation_of, claims))
    return len(conversations) == 1 and all(caller.session for caller in conversations)


def _conversation_of(claim: Claim) -> Caller:
    return attrs.evolve(claim.caller, correlation_id=None)


def _has_given_up(claims: Sequence[Claim], method: str) -> bool:
    """Return whether a question for consent or a completion may belong to a call that its caller gave up."""
    return method != ROOTS and any(claim.left_at is not None for claim in claims)


class ClaimedCalls(Sender):
    """Opens the claim in `CLAIM` for each request of `ANSWERED`.

    Args:
        is_answer: returns whether the server answered a call with an error; None if it did not begin the call.
    """

    def __init__(self, inner: Outbound, claims: Claims, is_answer: Callable[[MCPError], bool | None]) -> None:
        super().__init__(inner)
        self._claims = claims
        self._is_answer = is_answer
        self._ids = itertools.count(FIRST_ID)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises: MCPError."""
        claim = CLAIM.get()
        if method not in ANSWERED or claim is None:
            return await self._inner.send_raw_request(method, params, opts)
        request = next(self._ids)
        given: CallOptions = {**(opts or {}), "request_id": request}
        self._claims.open(request, claim)
        try:
            result = await self._inner.send_raw_request(method, params, given)
        except BaseException as error:
            self._end(request, error)
            raise
        self._claims.answered(request)
        return result

    def _end(self, request: RequestId, error: BaseException) -> None:
        answered = self._is_answer(error) if isinstance(error, MCPError) else False
        attempt = ATTEMPT.get()
        never_sent = answered is None or (attempt is not None and attempt.unsent)
        if answered or never_sent:
            self._claims.answered(request)
        else:
            self._claims.left(request)
