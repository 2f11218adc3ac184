"""Rules over names of servers, their transports and their addresses."""

from __future__ import annotations

import re

import attrs

from octoc.compiler.inputs.mcp.vscode import VSCODE
from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.compiler.lint.workspace import LintRun
from octoc.compiler.model.build import Build
from octoc.compiler.model.settings import USUAL_PLUGINS
from octoc.compiler.resolve.definitions import definitions
from octoc.credentials.placeholders import needs_filling
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_mcp import (
    ADDRESS_NOT_HTTP,
    DEPRECATED_TRANSPORT,
    RESERVED_SERVER_NAME,
    UNSUPPORTED_CONNECTION,
    UNUSUAL_SERVER_NAME,
)
from octoc.installation import install_command
from octoc.names import BUILTIN
from octoc.plugin.lint import lint_check
from octoc.plugin.transports import transport_kinds
from octoc.references import find_references

# Source: Claude Code, MCP configuration.
_USUAL = re.compile(r"[A-Za-z0-9_-]+\Z")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20}):/")
_HOST_FIRST = re.compile(r"[A-Za-z0-9.-]+(?::\d+)?(?:[/?#]|\Z)")
_SPACE = re.compile(r"\s+")
_SOCKETS = frozenset({"unix", "pipe"})
"""Local sockets, which VS Code connects."""
_SCHEMES = frozenset({"http", "https", "ws", "wss"})


@lint_check(RESERVED_SERVER_NAME, UNUSUAL_SERVER_NAME)
def check_names(build: Build, sink: DiagnosticSink) -> None:
    """Report server names that `mcp__<server>__<tool>` cannot contain, and those that Claude Code reserves."""
    for definition in definitions(build.sources):
        server = definition.source
        # Octomind's rules apply to a tap's server names, and models see octoc's alias instead.
        if server.disabled or definition.dialect == OCTOMIND:
            continue
        if server.name in definition.dialect.reserved_names:
            sink.report(
                RESERVED_SERVER_NAME,
                f"server name `{server.name}` is reserved: {definition.dialect.client} skips the server",
                at=server.place.key(),
                help=f"call it `{_usual(server.name)}-server`",
            )
        elif not (definition.dialect.is_lenient or definition.dialect.takes_any_name or _USUAL.match(server.name)):
            usual = _usual(server.name)
            sink.report(
                UNUSUAL_SERVER_NAME,
                f"server name `{server.name}` cannot be part of a tool's name: expected letters, digits, `-` and `_`",
                at=server.place.key(),
                help=f"call it `{usual}`" if usual else None,
                notes=("models see it with `_` in place of every other character",),
                severity=Severity.INFO,  # the server works
            )


@lint_check(ADDRESS_NOT_HTTP, DEPRECATED_TRANSPORT, UNSUPPORTED_CONNECTION)
def check_connections(workspace: LintRun, sink: DiagnosticSink) -> None:
    """Report deprecated transports, and servers that no transport of octoc can connect."""
    registered = transport_kinds(workspace.plugins)
    for definition in definitions(workspace.sources):
        server = definition.source
        if server.disabled:
            continue
        kind = registered.kinds[server.transport]
        if kind.deprecated is not None:
            sink.report(
                DEPRECATED_TRANSPORT,
                f"server `{server.name}` is reached over `{kind.key}`, which is deprecated",
                at=server.place.child("type"),
                help=kind.deprecated,
            )
        scheme = _SCHEME.match(server.url or "")
        if scheme is not None and scheme[1].lower() not in _SCHEMES:
            sink.report(
                ADDRESS_NOT_HTTP,
                f"the address of server `{server.name}` begins with `{scheme[1]}://`, which is not of HTTP",
                at=server.place.child("url"),
                help="use an address that begins with `https://`",
                severity=Severity.INFO if definition.dialect == VSCODE and scheme[1] in _SOCKETS else None,
            )
        elif scheme is None and has_no_scheme(server.url or ""):
            sink.report(
                ADDRESS_NOT_HTTP,
                f"the address of server `{server.name}` has no scheme",
                at=server.place.child("url"),
                help="begin it with `https://`",
            )
        elif (space := _space_in(server.url or "")) is not None:
            sink.report(
                ADDRESS_NOT_HTTP,
                f"the address of server `{server.name}` has a space",
                at=attrs.evolve(server.place.child("url"), within=space),
                help="remove it, or write `%20` where it belongs to the address",
            )
        elif kind.plugin is not None and kind.plugin not in (*workspace.settings.plugins, *USUAL_PLUGINS):
            sink.report(
                UNSUPPORTED_CONNECTION,
                f"server `{server.name}` is reached over `{kind.key}`, whose plugin the workspace does not use",
                at=server.place.child("type"),
                help=f"name `{kind.plugin}` in `[plugins] use`; `{install_command(f'octoc-{kind.plugin}')}` brings it",
            )
        elif kind.plugin is None and kind.key != BUILTIN and kind.key not in registered.connected:
            sink.report(
                UNSUPPORTED_CONNECTION,
                f"server `{server.name}` is reached over `{kind.key}`, which no transport of octoc supports",
                at=server.place.child("type"),
                help="use its `http` address, or name a plugin that brings the transport in `[plugins]`",
            )


def has_no_scheme(address: str) -> bool:
    """Tell whether an address begins with its host."""
    return _SCHEME.match(address) is None and _HOST_FIRST.match(address.strip() or "-://") is not None


def _space_in(address: str) -> tuple[int, int] | None:
    """Return where an address has white space inside, unless it is a text to replace or only references have it."""
    core = address.strip()
    if _SCHEME.match(core) is None or needs_filling(core):
        return None
    start = len(address) - len(address.lstrip())
    references = [one.span for one in find_references(core)]
    spaces = (match.span() for match in _SPACE.finditer(core))
    outside = (one for one in spaces if not any(begin < one[0] < end for begin, end in references))
    return next(((start + begin, start + end) for begin, end in outside), None)


def _usual(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")
