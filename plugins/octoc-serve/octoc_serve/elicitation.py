"""Forwards a backend's questions (elicitation, sampling, roots) to the client that made the call.

A question arrives in the context of the call that the backend works on. If that client no longer waits for the call,
the question is declined; no other client gets it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from octoc.plugin import Host
from octoc_serve.calls import CURRENT_CALL, DeclinedError, RunningCall

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

_REQUESTS: Mapping[str, type[types.InputRequest]] = {
    "elicitation/create": types.ElicitRequest,
    "sampling/createMessage": types.CreateMessageRequest,
    "roots/list": types.ListRootsRequest,
}
_CAPABILITIES: Mapping[str, str] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""Method -> the capability of a client that answers it."""


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
        return {kind: declared[kind] for kind in _CAPABILITIES.values() if kind in declared}

    async def _inputs(self, server: str, wanted: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Mapping[str, Any]]:
        """Ask the client of the current call for a whole round; a client of the handshake era gets one at a time."""
        call = _asker(*(wire["method"] for wire in wanted.values()))
        requests = {name: _request(server, wire) for name, wire in wanted.items()}
        if call.answers or call.context is None:
            return {name: _wire(answer) for name, answer in (await call.ask_all(requests)).items()}
        return {name: await _ask(call, request) for name, request in requests.items()}

    async def _elicit(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return await _ask_one(server, "elicitation/create", params)

    async def _sample(self, server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        return await _ask_one(server, "sampling/createMessage", params)

    async def _roots_during(self, server: str) -> Sequence[Mapping[str, Any]]:
        # A client of the modern era gets questions only as the answer to its own request.
        roots: list[Mapping[str, Any]] = (await _ask_one(server, "roots/list", {}))["roots"]
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


def _request(server: str, wire: Mapping[str, Any]) -> types.InputRequest:
    """Return a server's request with the server's name in the text that people or models read."""
    method, params = wire["method"], dict(wire.get("params") or {})
    if method == "elicitation/create":
        params["message"] = f"Server `{server}` asks: {params.get('message', '')}"
    elif method == "sampling/createMessage":
        said = (f"Server `{server}` asks for this completion.", params.get("systemPrompt"))
        params["systemPrompt"] = "\n\n".join(filter(None, said))
    return _REQUESTS[method].model_validate({"method": method, "params": params or None}, by_name=False)


def _asker(*methods: str) -> RunningCall:
    """Return the call of questions, if its client can answer all of them. Raises: DeclinedError."""
    call = CURRENT_CALL.get()
    if call is None or call.task is None or call.task.done():
        raise DeclinedError("the call has no client any more")
    can = call.can if call.is_reachable else None
    if any(getattr(can, _CAPABILITIES[method], None) is None for method in methods):
        raise DeclinedError("the client does not answer this")
    return call


async def _ask_one(server: str, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
    return await _ask(_asker(method), _request(server, {"method": method, "params": params}))


async def _ask(call: RunningCall, request: types.InputRequest) -> Mapping[str, Any]:
    if call.answers or call.context is None:
        return _wire(await call.ask(request))
    related = ServerMessageMetadata(related_request_id=call.context.request_id)
    return _wire(await call.context.session.send_request(request, _result_of(request), metadata=related))


def _result_of(request: types.InputRequest) -> type[types.Result]:
    if isinstance(request, types.CreateMessageRequest):
        return types.CreateMessageResultWithTools if request.params.tools else types.CreateMessageResult
    return types.ElicitResult if isinstance(request, types.ElicitRequest) else types.ListRootsResult


def _wire(answer: types.Result | types.ClientCapabilities) -> dict[str, Any]:
    return answer.model_dump(by_alias=True, exclude_none=True, mode="json")
