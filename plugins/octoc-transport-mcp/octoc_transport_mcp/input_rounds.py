"""Answers what a server of the 2026-07-28 revision wants before it completes a call, all of one round at once.

Such a server answers a call with requests (`inputRequests`) and a state; the call is repeated with the answers and that
state, until its result comes. The SDK would ask for each request alone, and would declare the same capabilities for all
callers. Here the host gets a round as the server sent it, and each call declares what its own caller can answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mcp_types
from mcp.shared.exceptions import MCPError

from octoc_transport_mcp.claims import ANSWERED
from octoc_transport_mcp.outbound import Sender

if TYPE_CHECKING:
    from mcp.shared.dispatcher import CallOptions, Outbound

    from octoc_transport_mcp.server_requests import ServerRequests

MAX_ROUNDS = 10
"""As the SDK's clients allow."""
STATE_ONLY_S = 0.2
"""The wait before a call is repeated whose server sent a state and no requests."""
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class InputRounds(Sender):
    """Repeats a call with the host's answers until its result comes."""

    def __init__(self, inner: Outbound, requests: ServerRequests, *, over_pipe: bool) -> None:
        super().__init__(inner)
        self._requests = requests
        self._over_pipe = over_pipe

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Send a request and return its result. Raises: MCPError, also when the host does not answer."""
        if method not in ANSWERED:
            return await self._inner.send_raw_request(method, params, opts)
        first = sent = self._of_caller(dict(params or {}))
        for _ in range(MAX_ROUNDS):
            result = await self._inner.send_raw_request(method, sent, opts)
            wanted = result.get("inputRequests", {})
            if result.get("resultType") != "input_required" or not _are_requests(wanted):
                return result
            sent = {**first}
            if wanted:
                for request in wanted.values() if self._over_pipe else ():
                    self._requests.claims.note_asked(request["method"])
                sent["inputResponses"] = await self._requests.inputs(wanted)
            else:
                await asyncio.sleep(STATE_ONLY_S)
            if "requestState" in result:
                sent["requestState"] = result["requestState"]
        raise MCPError(mcp_types.INTERNAL_ERROR, f"it asked for input more than {MAX_ROUNDS} times")

    def _of_caller(self, params: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters with the capabilities of the call's own caller."""
        capabilities = self._requests.capabilities()
        if capabilities is None:
            return params
        return {**params, "_meta": {**(params.get("_meta") or {}), CAPABILITIES: dict(capabilities)}}


def _are_requests(wanted: Any) -> bool:
    """Tell whether a server's requests can be passed on; the SDK refuses a result whose requests cannot."""
    return isinstance(wanted, Mapping) and all(
        isinstance(request, Mapping) and isinstance(request.get("method"), str) for request in wanted.values()
    )
