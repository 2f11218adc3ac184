"""Forwards a backend's questions (elicitation, sampling, roots) to the client that made the call.

A question arrives in the context of the call that the backend works on. If that client no longer waits for the call,
the question is declined; no other client gets it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from octoc.plugin import Host
from octoc_serve.calls import CURRENT_CALL, DeclinedError, RunningCall

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

ResultT = TypeVar("ResultT", bound=types.Result)


class Elicitation:
    """Forwards a backend's question to the client that waits for the call."""

    def host_of_all(self) -> Host:
        """Return the host for backends that clients share. It offers no roots, since a client's roots are private."""
        return Host(elicit=self._elicit, sample=self._sample)

    def host_of(self, context: ServerRequestContext[Any, Any]) -> Host:
        """Return the host for backends of one client, with the capabilities that the client declares."""
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
        call = _asker(lambda can: can.elicitation)
        named = {**params, "message": f"Server `{server}` asks: {params.get('message', '')}"}
        request = types.ElicitRequest.model_validate({"params": named}, by_name=False)
        return await _ask(call, request, types.ElicitResult)

    async def _sample(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        call = _asker(lambda can: can.sampling)
        prompt = "\n\n".join(filter(None, (f"Server `{server}` asks for this completion.", params.get("systemPrompt"))))
        named = {**params, "systemPrompt": prompt}
        request = types.CreateMessageRequest.model_validate({"params": named}, by_name=False)
        if params.get("tools"):
            return await _ask(call, request, types.CreateMessageResultWithTools)
        return await _ask(call, request, types.CreateMessageResult)

    async def _roots_during(self, _: str) -> Sequence[Mapping[str, Any]]:
        # A client of the modern era gets questions only as the answer to its own request.
        call = _asker(lambda can: can.roots)
        roots: list[Mapping[str, Any]] = (await _ask(call, types.ListRootsRequest(), types.ListRootsResult))["roots"]
        return roots

    def _roots(
        self, context: ServerRequestContext[Any, Any]
    ) -> Callable[[str], Awaitable[Sequence[Mapping[str, Any]]]]:
        async def roots(_: str) -> Sequence[Mapping[str, Any]]:
            # Servers ask for roots when they start, outside any call.
            answer = await context.session.send_request(types.ListRootsRequest(), types.ListRootsResult)
            listed: list[Mapping[str, Any]] = _wire(answer)["roots"]
            return listed

        return roots


def _asker(capability: Callable[[types.ClientCapabilities], object | None]) -> RunningCall:
    """Return the call of a question, if its client can answer. Raises: DeclinedError."""
    call = CURRENT_CALL.get()
    if call is None or call.task is None or call.task.done():
        raise DeclinedError("the call has no client any more")
    reachable = call.answers or (call.context is not None and call.context.session.can_send_request)
    if not reachable or call.can is None or capability(call.can) is None:
        raise DeclinedError("the client does not answer this")
    return call


async def _ask(call: RunningCall, request: types.InputRequest, result: type[ResultT]) -> Mapping[str, Any]:
    if call.answers or call.context is None:
        return _wire(await call.ask(request))
    related = ServerMessageMetadata(related_request_id=call.context.request_id)
    return _wire(await call.context.session.send_request(request, result, metadata=related))


def _wire(answer: types.Result) -> dict[str, Any]:
    return answer.model_dump(by_alias=True, exclude_none=True, mode="json")
