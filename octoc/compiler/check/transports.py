"""How a server is reached, from what its definition says and what it leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import Inspection
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rules import check as rules

_SAME_AS_HTTP = frozenset({"http", "streamable-http", "streamable_http", "streamableHttp"})
_BY_COMMAND = frozenset({"stdio"})
_BY_URL = frozenset({"http", "sse", "ws", "rest"})


def transport_of(entry: Mapping[str, Any]) -> str | None:
    """Return `stdio`, `http`, `sse`, `ws`, `rest` or `builtin`, by `type`, else by `command` or `url`; None if neither.

    Source: the dialects of `.mcp.json`; Octo's `streamable_http` and Claude Code's `streamable-http` are `http`.
    """
    written = entry.get("type")
    if isinstance(written, str):
        return "http" if written in _SAME_AS_HTTP else written
    if "command" in entry:
        return "stdio"
    return "http" if "url" in entry else None


def check_transport(name: str, entry: Mapping[str, Any], path: KeyPath, inspection: Inspection) -> bool:
    """Report a definition that says too much or too little to connect; it is cut. Return whether it is sound."""
    if "command" in entry and "url" in entry:
        inspection.report(
            rules.AMBIGUOUS_TRANSPORT,
            f"server `{name}` has both `command` and `url`",
            (*path, "url"),
            key=True,
            cut=path,
            related={"the command is here": (*path, "command")},
            help="keep `command` for a local program, or `url` for a remote server",
        )
        return False
    transport = transport_of(entry)
    if transport is None:
        inspection.report(
            rules.INCOMPLETE_SERVER,
            f"server `{name}` has neither `command` nor `url`",
            path,
            cut=path,
            help="add `command` for a local program, or `type` and `url` for a remote server",
        )
        return False
    needed = "command" if transport in _BY_COMMAND else "url" if transport in _BY_URL else None
    if needed is None or needed in entry:
        return True
    other = "url" if needed == "command" else "command"
    fits = "http" if other == "url" else "stdio"
    inspection.report(
        rules.INCOMPLETE_SERVER,
        f"server `{name}` is `{transport}` and has no `{needed}`",
        path,
        cut=path,
        help=f'it has a `{other}`: change `type` to "{fits}"' if other in entry else f"add `{needed}`",
    )
    return False
