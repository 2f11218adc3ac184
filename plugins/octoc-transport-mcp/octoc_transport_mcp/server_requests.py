"""Requests of a server to the host: answered in the context of their call, or declined at once."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import mcp_types
from mcp.shared.exceptions import MCPError

from octoc.plugin import ContentPart, Host, ToolFailure, ToolResult
from octoc_transport_mcp.claims import CLAIM, ELICITATION, ROOTS, SAMPLING, Claim, Claims

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext, ClientSession

log = logging.getLogger(__name__)
T = TypeVar("T")

_WORDS = {
    ELICITATION: "an answer of the user (elicitation)",
    SAMPLING: "a completion by a model (sampling)",
    ROOTS: "the list of roots",
}
_CAPABILITIES = {ELICITATION: "elicitation", SAMPLING: "sampling", ROOTS: "roots"}


class ServerRequests:
    """The requests of one server. The client declares only those for which the host has a callback."""

    def __init__(self, server: str, host: Host, limit_s: float) -> None:
        self._server = server
        self._host = host
        callbacks = {ELICITATION: host.elicit, SAMPLING: host.sample, ROOTS: host.roots}
        answered = frozenset(method for method, callback in callbacks.items() if callback is not None)
        self.claims = Claims(limit_s, answered)
        """The owners of the questions."""

    def callbacks(self) -> dict[str, Any]:
        """Return the SDK client's arguments for the requests that this host answers."""
        given = {
            "elicitation_callback": self._elicit if self._host.elicit is not None else None,
            "sampling_callback": self._sample if self._host.sample is not None else None,
            "list_roots_callback": self._roots if self._host.roots is not None else None,
        }
        return {name: callback for name, callback in given.items() if callback is not None}

    def watch(self, session: ClientSession, *, modern: bool, over_pipe: bool) -> None:
        """Pass each question to the host in the context of its call, and note the questions without an answer.

        Args:
            modern: whether questions are part of a call's answer, and so come in that call's own task.
            over_pipe: whether the server is a process of its own, whose state all of its calls share.
        """
        dispatch = session.dispatch_input_request

        async def noted(
            context: ClientRequestContext, request: mcp_types.InputRequest
        ) -> mcp_types.InputResponse | mcp_types.ErrorData:
            what = _WORDS.get(request.method, request.method)
            if modern:
                if over_pipe:
                    self.claims.note_asked(request.method)
                answer = await dispatch(context, request)
                claim = CLAIM.get()
            else:
                owner = self.claims.owner(context.request_id)
                claim = owner.claim
                if claim is None and not owner.of_connection:
                    return self._nobodys(what, owner.among)
                within = contextvars.Context() if claim is None else claim.context
                answer = await _answer_of(claim, asyncio.create_task(dispatch(context, request), context=within))
            if isinstance(answer, mcp_types.ErrorData) and claim is not None:
                _note(claim, what)
            return answer

        session.dispatch_input_request = noted  # type: ignore[method-assign,assignment]

    @property
    def answers_rounds(self) -> bool:
        """Whether the host answers all requests of a round at once."""
        return self._host.inputs is not None

    def capabilities(self) -> Mapping[str, Any] | None:
        """Return what the caller of the current call can answer; None if the host does not tell callers apart."""
        return None if self._host.capabilities is None else self._host.capabilities()

    async def inputs(self, wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the host's answers to the requests of one round. Raises: MCPError if the host fails or declines."""
        assert self._host.inputs is not None  # noqa: S101  # the connection asks only such a host
        methods = [request["method"] for request in wanted.values()]
        capabilities = self.capabilities() or {}
        refused = [method for method in methods if _CAPABILITIES.get(method) not in capabilities]
        if not refused:
            try:
                return dict(await self._host.inputs(self._server, wanted))
            except Exception as error:  # noqa: BLE001  # a fault of the host must not end the connection
                log.warning("the host's `inputs` failed for server `%s`: %s", self._server, type(error).__name__)
        claim = CLAIM.get()
        for method in refused or methods:
            if claim is not None:
                _note(claim, _WORDS.get(method, method))
        raise MCPError(mcp_types.INVALID_REQUEST, "the host could not answer")

    def _nobodys(self, what: str, among: tuple[Claim, ...]) -> mcp_types.ErrorData:
        for claim in among:
            claim.crowded = True
            _note(claim, what)
        running = f"{len(among)} calls" if among else "no call"
        log.warning("server `%s` asked for %s while %s ran on its connection: declined", self._server, what, running)
        return mcp_types.ErrorData(code=mcp_types.INVALID_REQUEST, message="the question belongs to no running call")

    def with_notes(self, outcome: ToolResult | ToolFailure, claim: Claim) -> ToolResult | ToolFailure:
        """Return an outcome with a note for the model about declined questions."""
        if not claim.declined:
            return outcome
        note = self.refusal(claim)
        if isinstance(outcome, ToolResult):
            part = ContentPart(type="text", text=f"[octoc] {note}: it was declined.")
            return attrs.evolve(outcome, content=(*outcome.content, part))
        if note in outcome.message:
            return outcome
        return attrs.evolve(outcome, message=f"{outcome.message}; {note}", text=f"{outcome.text}; {note}")

    def refusal(self, claim: Claim) -> str:
        """Return the message of a call that could not continue without an answer."""
        asked = f"`{self._server}` asked for {' and '.join(claim.declined)} during this call"
        if claim.crowded:
            return f"{asked}, and other calls ran on its connection, so that it is unknown which one asked"
        return f"{asked}, and this host has no answer to it"

    def lacking(self, data: Any) -> ToolFailure:
        """Return the failure of a call that the server did not begin because its caller cannot answer questions."""
        wanted = data.get("requiredCapabilities") if isinstance(data, Mapping) else None
        needs = tuple(sorted(map(str, wanted))) if isinstance(wanted, Mapping) else ()
        names = ", ".join(needs) or "it does not say which"
        message = f"`{self._server}` needs a client that answers its questions ({names})"
        return ToolFailure(kind="not_ready", message=message, text=message, needs=needs)

    async def _elicit(
        self, _: ClientRequestContext, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
        return await self._ask("elicit", mcp_types.ElicitResult.model_validate, _wire(params))

    async def _sample(
        self, _: ClientRequestContext, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.CreateMessageResultWithTools | mcp_types.ErrorData:
        return await self._ask("sample", _completion, _wire(params))

    async def _roots(self, _: ClientRequestContext) -> mcp_types.ListRootsResult | mcp_types.ErrorData:
        return await self._ask("roots", _roots_of)

    async def _ask(
        self, callback: str, read: Callable[[Any], T], *params: Mapping[str, Any]
    ) -> T | mcp_types.ErrorData:
        """Return the answer of a callback of the host as `read` validates it, or an error if either fails."""
        try:
            return read(await getattr(self._host, callback)(self._server, *params))
        except Exception as error:  # noqa: BLE001  # a fault of the host must not end the connection
            log.warning("the host's `%s` failed for server `%s`: %s", callback, self._server, type(error).__name__)
            return mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message="the host could not answer")


def _completion(answer: Mapping[str, Any]) -> mcp_types.CreateMessageResult | mcp_types.CreateMessageResultWithTools:
    if isinstance(answer.get("content"), list):
        return mcp_types.CreateMessageResultWithTools.model_validate(answer)
    return mcp_types.CreateMessageResult.model_validate(answer)


def _roots_of(roots: Iterable[Mapping[str, Any]]) -> mcp_types.ListRootsResult:
    return mcp_types.ListRootsResult.model_validate({"roots": [dict(root) for root in roots]})


def _wire(params: Any) -> Mapping[str, Any]:
    wire: dict[str, Any] = params.model_dump(by_alias=True, exclude_none=True, mode="json")
    return wire


async def _answer_of(
    claim: Claim | None, task: asyncio.Task[mcp_types.InputResponse | mcp_types.ErrorData]
) -> mcp_types.InputResponse | mcp_types.ErrorData:
    """Return the host's answer, or an error if the question's call has no caller any more."""
    if claim is not None:
        claim.asking.add(task)
        task.add_done_callback(claim.asking.discard)
        if claim.left_at is not None:
            task.cancel()
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError:
        task.cancel()  # the server withdrew its question, or the connection ends
        raise
    if task.cancelled():
        return mcp_types.ErrorData(code=mcp_types.INVALID_REQUEST, message="the call has no caller any more")
    return task.result()


def _note(claim: Claim, what: str) -> None:
    if what not in claim.declined:
        claim.declined.append(what)
