"""What went wrong, in one line: the SDK's exceptions, a process's end and HTTP's refusals in the contract's words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

import httpx2
import mcp_types
from mcp.shared.exceptions import MCPError

from octoc.plugin.protocols import ServerTarget
from octoc.results import FailureKind, ToolFailure
from octoc_transport_mcp.process import ServerProcess

MIN_SECRET_CHARS = 6
"""A value shorter than this is not cut out of a message: it would be found in ordinary words."""
MAX_MESSAGE_CHARS = 400

_UNKNOWN_TOOL = re.compile(r"unknown tool|tool\b.*\bnot found|no such tool", re.IGNORECASE)


def failure(kind: FailureKind, message: str) -> ToolFailure:
    """Return a failure whose text for the model is its message."""
    return ToolFailure(kind=kind, message=message, text=message)


def leaf(error: BaseException) -> BaseException:
    """Return what is inside exception groups: the first member that is no mere cancellation."""
    while isinstance(error, BaseExceptionGroup):
        members = [member for member in error.exceptions if isinstance(member, (Exception, BaseExceptionGroup))]
        error = (members or list(error.exceptions))[0]
    return error


def one_line(text: str, target: ServerTarget) -> str:
    """Return `text` on one line of at most MAX_MESSAGE_CHARS, with the target's values cut out."""
    for value in secrets_of(target):
        text = text.replace(value, "***")
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= MAX_MESSAGE_CHARS else text[: MAX_MESSAGE_CHARS - 1] + "…"


def secrets_of(target: ServerTarget) -> list[str]:
    """Return every value that may be secret, longest first, so that none is cut by another."""
    values: Iterable[str] = {*target.env.values(), *target.headers.values(), *target.secrets}
    return sorted((value for value in values if len(value) >= MIN_SECRET_CHARS), key=lambda value: (-len(value), value))


def origin(target: ServerTarget) -> str:
    """Return scheme, host and port of the target's URL: its path and query may hold a credential."""
    parts = urlsplit(target.url or "")
    return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}"


def ending(process: ServerProcess) -> str:
    """Say how a process that has ended did, and its last words."""
    code = process.exit_code
    if code is None:
        how = "closed its stdout"
    elif code < 0:
        how = f"was ended by signal {-code}"
    else:
        how = f"exited with code {code}"
    words = process.stderr.lines
    return f"{how}: {words[-1]}" if words else how


def not_started(error: BaseException, target: ServerTarget, process: ServerProcess | None, status: int | None) -> str:
    """Return why no connection came about, on one line. `status` is the HTTP status that refused, if one did."""
    error = leaf(error)
    name = f"`{target.command}`" if target.transport == "stdio" else f"`{origin(target)}`"
    if process is not None:
        if not process.stopped:
            text = f"{name} {ending(process)}"
        elif process.garbage is not None:
            text = f"{name} does not speak MCP: it printed `{process.garbage}`"
        else:
            text = f"{name} does not speak MCP: {error}"
    elif status is not None:
        text = f"{name} answered HTTP {status}"
    elif isinstance(error, httpx2.HTTPError):
        text = f"{name} could not be reached: {str(error) or type(error).__name__}"
    elif isinstance(error, MCPError):
        text = f"{name} refused to speak MCP: {error.message} ({error.code})"
    else:
        text = f"{name} could not be connected: {type(error).__name__}: {error}"
    return one_line(text, target)


def not_spawned(error: Exception, target: ServerTarget) -> str:
    """Return why the command could not be started, on one line."""
    command = target.command or ""
    if isinstance(error, FileNotFoundError):
        if target.cwd is not None and error.filename == target.cwd:
            return f"the folder `{target.cwd}`, in which `{command}` is to run, does not exist"
        where = "does not exist" if "/" in command else "was not found on PATH"
        return one_line(f"command `{command}` {where}", target)
    if isinstance(error, PermissionError):
        return one_line(f"command `{command}` may not be run: permission denied", target)
    return one_line(f"command `{command}` could not be started: {error}", target)


def of_protocol_error(error: MCPError, tool: str, target: ServerTarget) -> ToolFailure | None:
    """Return the failure that a JSON-RPC error to a call means; None when it is the tool's own word that it failed."""
    if error.code == mcp_types.METHOD_NOT_FOUND:
        return failure("not_found", f"`{target.name}` has no tools to call")
    if error.code == mcp_types.INVALID_PARAMS:
        if _UNKNOWN_TOOL.search(error.message):
            return failure("not_found", f"`{target.name}` has no tool `{tool}`")
        return failure("bad_request", one_line(f"`{target.name}` refused the call: {error.message}", target))
    return None
