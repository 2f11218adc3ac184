"""The tools of a host: Python functions, or the tools of a runtime's agent, under the protocol's names."""

from __future__ import annotations

import hashlib
import inspect
import json
import logging
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Literal, Protocol

import attrs

from octoc.plugin import Caller, FailureKind, PythonTool, ToolFailure, ToolResult
from octoc.plugin.toolkit import near_names
from octoc_transport_rest.http import RefusedError
from octoc_transport_rest.protocol import MAX_BODY_BYTES, MAX_TOOLS, TOOL_NAME

log = logging.getLogger(__name__)

INTERNAL = "An internal error occurred. Please try again."
"""Message to a client for a handler's exception. Source: Octopus, its tool loop."""
_OUTSIDE = re.compile(r"[^a-z0-9_]")
_HEX = 8
_MOST_NEAR = 5
# BAD_GATEWAY: the client's request is valid, and a server of the host failed.
_STATUS: Mapping[FailureKind, HTTPStatus] = {
    "bad_request": HTTPStatus.BAD_REQUEST,
    "not_found": HTTPStatus.NOT_FOUND,
    "ambiguous": HTTPStatus.CONFLICT,
    "not_active": HTTPStatus.CONFLICT,
    "not_ready": HTTPStatus.SERVICE_UNAVAILABLE,
    "unauthorized": HTTPStatus.BAD_GATEWAY,
    "changed": HTTPStatus.CONFLICT,
    "unavailable": HTTPStatus.SERVICE_UNAVAILABLE,
    "rate_limited": HTTPStatus.TOO_MANY_REQUESTS,
    "connect_failed": HTTPStatus.BAD_GATEWAY,
    "connection_lost": HTTPStatus.BAD_GATEWAY,
    "timeout": HTTPStatus.GATEWAY_TIMEOUT,
    "too_large": HTTPStatus.BAD_GATEWAY,
    "protocol": HTTPStatus.BAD_GATEWAY,
    "cancelled": HTTPStatus.SERVICE_UNAVAILABLE,
    "internal": HTTPStatus.INTERNAL_SERVER_ERROR,
}


Arguments = Callable[[], Mapping[str, Any]]


class ToolHost(Protocol):
    """Lists tools and takes calls, as `octoc.runtime.Session` does."""

    @property
    def caller(self) -> Caller:
        """The caller of calls that name none."""
        ...

    def tools(self, format: Literal["mcp"]) -> Sequence[Mapping[str, Any]]:  # noqa: A002  # as in Session
        """Return the current tools in MCP's wire form."""
        ...

    def call(
        self, name: str, arguments: Mapping[str, Any] | None = None, *, caller: Caller | None = None
    ) -> Awaitable[ToolResult | ToolFailure]:
        """Call a tool by its name in `tools`, for `caller`."""
        ...


class HostTools(Protocol):
    """A host's tools."""

    def listing(self) -> bytes:
        """Return the body of an answer to `GET /tools`."""
        ...

    def call(self, name: str, arguments: Arguments, caller: Caller) -> Awaitable[bytes]:
        """Return the body of a successful answer. Raises: RefusedError; any other exception is hidden from the client.

        `arguments` reads the arguments; it is called only for an existing tool.
        """
        ...


class PythonTools:
    """Functions of this process. Raises: ValueError, for tools that break the protocol's rules."""

    def __init__(self, tools: Iterable[PythonTool]) -> None:
        self._tools: dict[str, PythonTool] = {}
        for tool in tools:
            if not TOOL_NAME.fullmatch(tool.name):
                raise ValueError(f"the name `{tool.name}` of a tool is not of the form `{TOOL_NAME.pattern}`")
            if tool.name in self._tools:
                raise ValueError(f"two tools have the name `{tool.name}`")
            self._tools[tool.name] = tool
        _not_too_many(len(self._tools))

    def listing(self) -> bytes:
        tools = self._tools.values()
        return dump(
            [{"name": one.name, "description": one.description, "inputSchema": one.input_schema} for one in tools]
        )

    async def call(self, name: str, arguments: Arguments, caller: Caller) -> bytes:
        tool = self._tools.get(name)
        if tool is None:
            raise unknown(name, self._tools)
        value = tool.handler(arguments())
        if inspect.isawaitable(value):
            value = await value
        if isinstance(value, ToolResult):
            value = _value_of(value)
        return dump(value)


class RegistryTools:
    """An agent's tools, listed again for each request. Raises: ValueError, for more than the protocol allows."""

    def __init__(self, registry: ToolHost) -> None:
        self._registry = registry
        _not_too_many(len(self._named()))

    def listing(self) -> bytes:
        named = self._named()
        if len(named) > MAX_TOOLS:
            log.warning("%d tools are more than the %d that the protocol allows: the last ones are not listed",
                        len(named), MAX_TOOLS)  # fmt: skip
        listed = list(named.items())[:MAX_TOOLS]
        return dump([{**wire, "name": name, "description": wire.get("description") or ""} for name, wire in listed])

    async def call(self, name: str, arguments: Arguments, caller: Caller) -> bytes:
        named = self._named()
        wire = named.get(name)
        if wire is None:
            raise unknown(name, named)
        own = self._registry.caller
        caller = attrs.evolve(
            own,
            # A client may not choose its tenant, since it must not use up another tenant's quota.
            tenant=caller.tenant if own.tenant is None else own.tenant,
            correlation_id=own.correlation_id if caller.correlation_id is None else caller.correlation_id,
            user=own.user if caller.user is None else caller.user,
        )
        outcome = await self._registry.call(wire["name"], arguments(), caller=caller)
        if isinstance(outcome, ToolFailure):
            shown = {wire["name"]: name for name, wire in named.items()}
            raise _refusal(attrs.evolve(outcome, similar=tuple(shown.get(one, one) for one in outcome.similar)))
        body = dump(_value_of(outcome))
        if len(body) > MAX_BODY_BYTES:
            too_large = f"`{name}` answered {len(body)} bytes, and the protocol allows {MAX_BODY_BYTES}"
            raise RefusedError(HTTPStatus.BAD_GATEWAY, "too_large", too_large)
        return body

    def _named(self) -> dict[str, Mapping[str, Any]]:
        wires = self._registry.tools("mcp")
        names = protocol_names([wire["name"] for wire in wires])
        return {names[wire["name"]]: wire for wire in wires}


def protocol_names(names: Sequence[str]) -> Mapping[str, str]:
    """Return a unique name of the protocol, `[a-z0-9_]+`, for each of `names`.

    A name of that form stays. Any other is in lower case, with `_` for each other character. If two would be equal, the
    name ends in 8 hex digits of its SHA-256, or more if that is taken too.
    """
    valid = {name for name in names if TOOL_NAME.fullmatch(name)}
    plain = {name: _OUTSIDE.sub("_", name.lower()) or "_" for name in names if name not in valid}
    alike = Counter(plain.values())
    by_name = {name: name for name in valid}
    taken = set(valid)
    for name in sorted(plain):
        wanted, digits = plain[name], _HEX
        if alike[wanted] > 1 or wanted in taken:
            digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
            while (wanted := f"{plain[name]}_{digest[:digits]}") in taken or wanted in alike:
                digits += _HEX
        by_name[name] = wanted
        taken.add(wanted)
    return by_name


def unknown(name: str, names: Iterable[str]) -> RefusedError:
    """Return the refusal of an unknown tool, with similar names."""
    near = near_names(name, list(names), _MOST_NEAR)
    hint = {"hint": f"Similar: {', '.join(near)}"} if near else {}
    return RefusedError(HTTPStatus.NOT_FOUND, "not_found", f"there is no tool `{name}`", hint)


def dump(value: Any) -> bytes:
    """Return a value as JSON. Raises: TypeError or ValueError, for a value without a form in JSON."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


def _not_too_many(tools: int) -> None:
    if tools > MAX_TOOLS:
        raise ValueError(f"{tools} tools are more than the {MAX_TOOLS} that the protocol allows")


def _value_of(result: ToolResult) -> Any:
    """Return the value of a result for a client. Raises: RefusedError, for a tool's own error."""
    if result.is_error:
        fields = result.structured if isinstance(result.structured, Mapping) else {}
        extra = {key: value for key, value in fields.items() if key not in {"error", "message"}}
        code, message = fields.get("error"), fields.get("message")
        raise RefusedError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            code if isinstance(code, str) and code else "tool_error",
            message if isinstance(message, str) and message else result.text or "the tool failed",
            extra if isinstance(message, str) else {},
        )
    if any(part.text is None for part in result.content):
        from octoc.runtime import as_mcp_result

        return as_mcp_result(result)
    # The text of a cut result has the command to read on.
    return result.text if result.structured is None or result.handle is not None else result.structured


def _refusal(failure: ToolFailure) -> RefusedError:
    extra: dict[str, Any] = {}
    if failure.similar:
        extra["hint"] = f"Similar: {', '.join(failure.similar)}"
    seconds = failure.retry_after_s
    if seconds is not None and 0 < seconds < math.inf:
        extra["retry_after"] = math.ceil(seconds)
    # Only the log has an internal error.
    message = INTERNAL if failure.kind == "internal" else failure.message
    return RefusedError(_STATUS[failure.kind], failure.kind, message, extra)
