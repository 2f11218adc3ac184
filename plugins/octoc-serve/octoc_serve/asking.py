"""What a backend asks of its client during a call: put to the client that made the call, where it can answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.shared.message import ServerMessageMetadata

from octoc.plugin import Host

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from octoc_serve.states import States

ResultT = TypeVar("ResultT", bound=types.Result)


class DeclinedError(Exception):
    """There is no client to ask, or more than one, or it cannot answer; the transport tells the model so."""


class Asking:
    """Finds whom to ask: all clients share a backend, and its question names no call, so there must be only one."""

    def __init__(self, states: States) -> None:
        self._states = states

    def host_of_all(self) -> Host:
        """Return what answers backends of many clients: roots are not, as one client's are no other's business."""
        return Host(elicit=self._elicit, sample=self._sample)

    def host_of(self, context: ServerRequestContext[Any, Any]) -> Host:
        """Return what answers backends of one client alone: what it says that it can."""
        if not context.session.can_send_request:
            return Host()
        can = context.session.client_capabilities or types.ClientCapabilities()
        return Host(
            elicit=self._elicit if can.elicitation is not None else None,
            sample=self._sample if can.sampling is not None else None,
            roots=self._roots(context) if can.roots is not None else None,
        )

    async def _elicit(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        context = self._asker(server, lambda can: can.elicitation)
        request = types.ElicitRequest.model_validate({"params": params}, by_name=False)
        return await _ask(context, request, types.ElicitResult)

    async def _sample(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        context = self._asker(server, lambda can: can.sampling)
        request = types.CreateMessageRequest.model_validate({"params": params}, by_name=False)
        if params.get("tools"):
            return await _ask(context, request, types.CreateMessageResultWithTools)
        return await _ask(context, request, types.CreateMessageResult)

    def _roots(
        self, context: ServerRequestContext[Any, Any]
    ) -> Callable[[str], Awaitable[Sequence[Mapping[str, Any]]]]:
        async def roots(_: str) -> Sequence[Mapping[str, Any]]:
            # Not in the name of a call: servers ask for them when they begin.
            answer = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
            found: list[Mapping[str, Any]] = _wire(answer)["roots"]
            return found

        return roots

    def _asker(
        self, server: str, capability: Callable[[types.ClientCapabilities], object | None]
    ) -> ServerRequestContext[Any, Any]:
        calls = [call.context for served in self._states.all() for call in served.under_way if call.server == server]
        if len(calls) != 1:
            raise DeclinedError(f"{len(calls)} calls of `{server}` are under way")
        session = calls[0].session
        can = session.client_capabilities
        if not session.can_send_request or can is None or capability(can) is None:
            raise DeclinedError("the client does not answer this")
        return calls[0]


async def _ask(
    context: ServerRequestContext[Any, Any], request: types.ServerRequest, result: type[ResultT]
) -> Mapping[str, Any]:
    related = ServerMessageMetadata(related_request_id=context.request_id)
    return _wire(await context.session.send_request(request, result, metadata=related))


def _wire(answer: types.Result) -> dict[str, Any]:
    return answer.model_dump(by_alias=True, exclude_none=True, mode="json")
