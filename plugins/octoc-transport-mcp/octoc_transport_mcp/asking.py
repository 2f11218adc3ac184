"""What a server asks of its client: put to the host's callbacks, or declined at once, and then the model is told."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs
import mcp_types

from octoc.plugin.protocols import Host
from octoc.results import ContentPart, ToolFailure, ToolResult

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext, ClientSession

log = logging.getLogger(__name__)

_WORDS = {
    "elicitation/create": "an answer of the user (elicitation)",
    "sampling/createMessage": "a completion by a model (sampling)",
    "roots/list": "the list of roots",
}


class Asking:
    """A connection's questions to its host. Only what the host has a callback for is declared to the server."""

    def __init__(self, server: str, host: Host) -> None:
        self._server = server
        self._host = host
        self._calls: list[list[str]] = []

    def callbacks(self) -> dict[str, Any]:
        """Return the SDK client's arguments for what this host answers."""
        given = {
            "elicitation_callback": self._elicit if self._host.elicit is not None else None,
            "sampling_callback": self._sample if self._host.sample is not None else None,
            "list_roots_callback": self._roots if self._host.roots is not None else None,
        }
        return {name: callback for name, callback in given.items() if callback is not None}

    def watch(self, session: ClientSession) -> None:
        """Take note of each question that gets no answer, in whichever way of both eras it comes."""
        dispatch = session.dispatch_input_request

        async def noted(
            context: ClientRequestContext, request: mcp_types.InputRequest
        ) -> mcp_types.InputResponse | mcp_types.ErrorData:
            answer = await dispatch(context, request)
            if isinstance(answer, mcp_types.ErrorData):
                self.note(_WORDS.get(request.method, request.method))
            return answer

        session.dispatch_input_request = noted  # type: ignore[method-assign,assignment]

    def note(self, what: str) -> None:
        """Take note that the server asked for `what` in vain: every call under way is told, for none is named."""
        for call in self._calls:
            if what not in call:
                call.append(what)

    @contextlib.contextmanager
    def during(self) -> Iterator[list[str]]:
        """Collect what is asked in vain while a call is under way."""
        asked: list[str] = []
        self._calls.append(asked)
        try:
            yield asked
        finally:
            # By identity: the lists of two calls may be equal.
            self._calls = [call for call in self._calls if call is not asked]

    def told(self, outcome: ToolResult | ToolFailure, asked: list[str]) -> ToolResult | ToolFailure:
        """Return an outcome that tells the model what the server asked for in vain."""
        if not asked:
            return outcome
        note = self.refusal(asked)
        if isinstance(outcome, ToolResult):
            part = ContentPart(type="text", text=f"[octoc] {note}: it was declined.")
            return attrs.evolve(outcome, content=(*outcome.content, part))
        if note in outcome.message:
            return outcome
        return attrs.evolve(outcome, message=f"{outcome.message}; {note}", text=f"{outcome.text}; {note}")

    def refusal(self, asked: list[str]) -> str:
        """Return the message of a call that could not go on without an answer."""
        return f"`{self._server}` asked for {' and '.join(asked)} during this call, and this host has no answer to it"

    def lacking(self, data: Any) -> str:
        """Return the message of a call that the server did not begin, for what this host cannot answer."""
        wanted = data.get("requiredCapabilities") if isinstance(data, Mapping) else None
        names = ", ".join(sorted(map(str, wanted))) if isinstance(wanted, Mapping) else ""
        return f"`{self._server}` needs a client that answers its questions ({names or 'it does not say which'})"

    async def _elicit(
        self, _: ClientRequestContext, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult | mcp_types.ErrorData:
        assert self._host.elicit is not None  # noqa: S101  # the callback is only given where there is one
        try:
            return mcp_types.ElicitResult.model_validate(await self._host.elicit(self._server, _wire(params)))
        except Exception as error:  # noqa: BLE001  # the host's own fault must not end the connection
            return self._failed("elicit", error)

    async def _sample(
        self, _: ClientRequestContext, params: mcp_types.CreateMessageRequestParams
    ) -> mcp_types.CreateMessageResult | mcp_types.CreateMessageResultWithTools | mcp_types.ErrorData:
        assert self._host.sample is not None  # noqa: S101  # the callback is only given where there is one
        try:
            answer = await self._host.sample(self._server, _wire(params))
            if isinstance(answer.get("content"), list):
                return mcp_types.CreateMessageResultWithTools.model_validate(answer)
            return mcp_types.CreateMessageResult.model_validate(answer)
        except Exception as error:  # noqa: BLE001  # the host's own fault must not end the connection
            return self._failed("sample", error)

    async def _roots(self, _: ClientRequestContext) -> mcp_types.ListRootsResult | mcp_types.ErrorData:
        assert self._host.roots is not None  # noqa: S101  # the callback is only given where there is one
        try:
            roots = [dict(root) for root in await self._host.roots(self._server)]
            return mcp_types.ListRootsResult.model_validate({"roots": roots})
        except Exception as error:  # noqa: BLE001  # the host's own fault must not end the connection
            return self._failed("roots", error)

    def _failed(self, callback: str, error: Exception) -> mcp_types.ErrorData:
        log.warning("the host's `%s` failed for server `%s`: %s", callback, self._server, type(error).__name__)
        return mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message="the host could not answer")


def _wire(params: Any) -> Mapping[str, Any]:
    wire: dict[str, Any] = params.model_dump(by_alias=True, exclude_none=True, mode="json")
    return wire
