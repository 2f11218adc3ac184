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
_ANSWERED = ("elicitation", "sampling", "roots")
_METHODS: Mapping[str, tuple[type[types.InputRequest], type[types.Result]]] = {
    "elicitation/create": (types.ElicitRequest, types.ElicitResult),
    "sampling/createMessage": (types.CreateMessageRequest, types.CreateMessageResult),
    "roots/list": (types.ListRootsRequest, types.ListRootsResult),
}


class Elicitation:
    """Forwards a backend's question to the client that waits for the call."""

    def host_of_all(self) -> Host:
        """Return the host for backends that clients share. It offers no roots, since a client's roots are private."""
        return Host(elicit=self._elicit, sample=self._sample, inputs=self._inputs, capabilities=self._capabilities)

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
            inputs=self._inputs,
            capabilities=self._capabilities,
        )

    def _capabilities(self) -> Mapping[str, Any] | None:
        """Return what the client of the current call can answer; None outside of calls."""
        call = CURRENT_CALL.get()
        if call is None:
            return None
        declared = {} if call.can is None or not call.is_reachable else _wire(call.can)
        return {kind: declared[kind] for kind in _ANSWERED if kind in declared}

    async def _inputs(self, server: str, wanted: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
        """Ask the client of the current call for a whole round; a client of the handshake era gets one at a time."""
        call = CURRENT_CALL.get()
        if call is None or call.task is None or call.task.done() or not call.is_reachable:
            raise DeclinedError("the call has no client any more")
        requests = {
            name: _METHODS[wire["method"]][0].model_validate(_from(server, wire), by_name=False)
            for name, wire in wanted.items()
        }
        if call.answers or call.context is None:
            return {name: _wire(answer) for name, answer in (await call.ask_all(requests)).items()}
        return {name: await _ask(call, request, _METHODS[request.method][1]) for name, request in requests.items()}

    async def _elicit(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        call = _asker(lambda can: can.elicitation)
        named = _from(server, {"method": "elicitation/create", "params": params})
        request = types.ElicitRequest.model_validate(named, by_name=False)
        return await _ask(call, request, types.ElicitResult)

    async def _sample(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        call = _asker(lambda can: can.sampling)
        named = _from(server, {"method": "sampling/createMessage", "params": params})
        request = types.CreateMessageRequest.model_validate(named, by_name=False)
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


def _from(server: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return a server's request with the server's name in the text that people or models read."""
    params = dict(request.get("params") or {})
    if request["method"] == "elicitation/create":
        params["message"] = f"Server `{server}` asks: {params.get('message', '')}"
    elif request["method"] == "sampling/createMessage":
        said = (f"Server `{server}` asks for this completion.", params.get("systemPrompt"))
        params["systemPrompt"] = "\n\n".join(filter(None, said))
    return {**request, "params": params} if params else dict(request)


def _asker(capability: Callable[[types.ClientCapabilities], object | None]) -> RunningCall:
    """Return the call of a question, if its client can answer. Raises: DeclinedError."""
    call = CURRENT_CALL.get()
    if call is None or call.task is None or call.task.done():
        raise DeclinedError("the call has no client any more")
    if not call.is_reachable or call.can is None or capability(call.can) is None:
        raise DeclinedError("the client does not answer this")
    return call


async def _ask(call: RunningCall, request: types.InputRequest, result: type[ResultT]) -> Mapping[str, Any]:
    if call.answers or call.context is None:
        return _wire(await call.ask(request))
    related = ServerMessageMetadata(related_request_id=call.context.request_id)
    return _wire(await call.context.session.send_request(request, result, metadata=related))


def _wire(answer: types.Result | types.ClientCapabilities) -> dict[str, Any]:
    return answer.model_dump(by_alias=True, exclude_none=True, mode="json")
