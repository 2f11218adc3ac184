"""Calls under way: who waits for each, how its steps reach that client, and what a backend asks of it meanwhile.

In the handshake era a question goes to the client while its request waits. In the modern one the request is answered
with the question, and the client asks again with the answer (`InputRequiredResult`, SEP-2322): the call goes on between
the two requests, under a name that only this client has.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import mcp_types as types

from octoc.results import Progress, ToolFailure, ToolResult

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    Context = ServerRequestContext[Any, Any]

MAX_SUSPENDED = 16
"""Calls of one client that wait for answers; with one more the oldest ends."""
_MAX_PROGRESS = 256


class DeclinedError(Exception):
    """There is no client to ask, or more than one, or it cannot answer; the transport tells the model so."""


@attrs.frozen(eq=False)
class Question:
    """What a backend asks during a call, in MCP's form, and where the answer goes."""

    request: types.InputRequest
    answer: asyncio.Future[types.InputResponse]


@attrs.define(eq=False)
class UnderWay:
    """A call, and the request that waits for it now.

    `answers` is whether questions are taken between two requests; `context` None while the client has none under way.
    """

    tool: str
    arguments: Mapping[str, Any]
    context: Context | None
    answers: bool = False
    began: float = attrs.field(factory=time.monotonic)
    task: asyncio.Task[ToolResult | ToolFailure] | None = None
    _questions: list[Question] = attrs.field(factory=list)
    _asked: asyncio.Event = attrs.field(factory=asyncio.Event)
    can: types.ClientCapabilities | None = None

    async def ask(self, request: types.InputRequest) -> types.InputResponse:
        """Have the client asked in the answer to its request, and wait for its next. Raises: DeclinedError."""
        question = Question(request, asyncio.get_running_loop().create_future())
        self._questions.append(question)
        self._asked.set()
        try:
            return await question.answer
        finally:
            self._questions.remove(question)

    async def next(self) -> ToolResult | ToolFailure | dict[str, types.InputRequest]:
        """Wait until the call has ended, or something is asked; return the outcome, or the questions."""
        assert self.task is not None  # noqa: S101  # it was begun by who waits for it
        while True:
            # Where nothing is asked between two requests, nothing waits for it.
            asked = [asyncio.ensure_future(self._asked.wait())] if self.answers else []
            try:
                await asyncio.wait((self.task, *asked), return_when=asyncio.FIRST_COMPLETED)
            except asyncio.CancelledError:
                await self.stop()
                raise
            finally:
                for waiting in asked:
                    waiting.cancel()
            self._asked.clear()
            if self.task.done():
                return self.task.result()
            # What was asked may have been given up meanwhile.
            if open_ := [question for question in self._questions if not question.answer.done()]:
                return {str(number): question.request for number, question in enumerate(open_)}

    def answer(self, responses: Mapping[str, types.InputResponse]) -> None:
        """Pass on what the client answers; a question that it leaves out is declined."""
        open_ = [question for question in self._questions if not question.answer.done()]
        for number, question in enumerate(open_):
            response = responses.get(str(number))
            if response is None:
                question.answer.set_exception(DeclinedError("the client has left this question out"))
            else:
                question.answer.set_result(response)

    async def stop(self) -> None:
        """Cancel the call, and wait for its end."""
        if self.task is not None and not self.task.done():
            self.task.cancel()
            await asyncio.wait((self.task,))


CURRENT: contextvars.ContextVar[UnderWay | None] = contextvars.ContextVar("octoc_serve_call", default=None)
"""The call whose task this is; a backend's question comes in the context of the call that it belongs to."""


class Suspended:
    """Calls of one client that wait for its answers, by names that nobody can guess; each can be taken once."""

    def __init__(self) -> None:
        self._calls: dict[str, UnderWay] = {}

    async def keep(self, call: UnderWay) -> str:
        """Keep a call and return its name."""
        while len(self._calls) >= MAX_SUSPENDED:
            await self._calls.pop(next(iter(self._calls))).stop()
        name = secrets.token_urlsafe(24)
        self._calls[name] = call
        return name

    def take(self, name: str, tool: str, arguments: Mapping[str, Any]) -> UnderWay | None:
        """Return the call of this name and forget it; None where there is none, or it is one of something else."""
        call = self._calls.get(name)
        if call is None or call.tool != tool or call.arguments != arguments:
            return None
        return self._calls.pop(name)

    async def close(self) -> None:
        """End them all."""
        while self._calls:
            await self._calls.popitem()[1].stop()


class _Heard:
    """Steps of a call on their way to the client, in order; what comes faster than it reads is left out."""

    def __init__(self, call: UnderWay) -> None:
        self._call = call
        self._queue: asyncio.Queue[Progress | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._forward(), name="octoc serve: progress")

    def note(self, progress: Progress) -> None:
        if self._queue.qsize() < _MAX_PROGRESS:
            self._queue.put_nowait(progress)

    async def told(self) -> None:
        """Wait until the client has been told all steps."""
        self._queue.put_nowait(None)
        await self._task

    def stop(self) -> None:
        self._task.cancel()

    async def _forward(self) -> None:
        while (step := await self._queue.get()) is not None:
            context = self._call.context
            if context is not None:
                await context.session.report_progress(step.done, step.total, step.message)


@contextlib.contextmanager
def progress_of(call: UnderWay) -> Iterator[_Heard | None]:
    """Pass progress on to a client that has asked for it."""
    context = call.context
    if context is None or (context.meta or {}).get("progress_token") is None:
        yield None
        return
    heard = _Heard(call)
    try:
        yield heard
    finally:
        heard.stop()
