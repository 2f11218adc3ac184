"""What a backend asks of its client during a call: put to the client that made the call, where it can answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from octoc.plugin import Host
from octoc_serve.calls import DeclinedError, UnderWay

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from octoc_serve.states import States

ResultT = TypeVar("ResultT", bound=types.Result)


class Asking:
    """Finds whom to ask: all clients share a backend, and its question names no call, so there must be only one."""

    def __init__(self, states: States) -> None:
        self._states = states

    def host_of_all(self) -> Host:
        """Return what answers backends of many clients: roots are not, as one client's are no other's business."""
        return Host(elicit=self._elicit, sample=self._sample)

    def host_of(self, context: ServerRequestContext[Any, Any]) -> Host:
        """Return what answers backends of one client alone: what it says that it can."""
        modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        if not modern and not context.session.can_send_request:
            return Host()
        can = context.session.client_capabilities or types.ClientCapabilities()
        roots = self._roots_during if modern else self._roots(context)
        return Host(
            elicit=self._elicit if can.elicitation is not None else None,
            sample=self._sample if can.sampling is not None else None,
            roots=roots if can.roots is not None else None,
        )

    async def _elicit(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        call = self._asker(server, lambda can: can.elicitation)
        request = types.ElicitRequest.model_validate({"params": params}, by_name=False)
        return await _ask(call, request, types.ElicitResult)

    async def _sample(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        call = self._asker(server, lambda can: can.sampling)
        request = types.CreateMessageRequest.model_validate({"params": params}, by_name=False)
        if params.get("tools"):
            return await _ask(call, request, types.CreateMessageResultWithTools)
        return await _ask(call, request, types.CreateMessageResult)

    async def _roots_during(self, server: str) -> Sequence[Mapping[str, Any]]:
        # A question has no way to a client of the modern era but the answer to a request of its own.
        call = self._asker(server, lambda can: can.roots)
        found: list[Mapping[str, Any]] = (await _ask(call, types.ListRootsRequest(), types.ListRootsResult))["roots"]
        return found

    def _roots(
        self, context: ServerRequestContext[Any, Any]
    ) -> Callable[[str], Awaitable[Sequence[Mapping[str, Any]]]]:
        async def roots(_: str) -> Sequence[Mapping[str, Any]]:
            # Not in the name of a call: servers ask for them when they begin.
            answer = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
            found: list[Mapping[str, Any]] = _wire(answer)["roots"]
            return found

        return roots

    def _asker(self, server: str, capability: Callable[[types.ClientCapabilities], object | None]) -> UnderWay:
        calls = [call for served in self._states.all() for call in served.under_way if call.server == server]
        if len(calls) != 1:
            raise DeclinedError(f"{len(calls)} calls of `{server}` are under way")
        (call,) = calls
        reachable = call.answers or (call.context is not None and call.context.session.can_send_request)
        if not reachable or call.can is None or capability(call.can) is None:
            raise DeclinedError("the client does not answer this")
        return call


async def _ask(call: UnderWay, request: types.InputRequest, result: type[ResultT]) -> Mapping[str, Any]:
    if call.answers or call.context is None:
        return _wire(await call.ask(request))
    related = ServerMessageMetadata(related_request_id=call.context.request_id)
    return _wire(await call.context.session.send_request(request, result, metadata=related))


def _wire(answer: types.Result) -> dict[str, Any]:
    return answer.model_dump(by_alias=True, exclude_none=True, mode="json")
