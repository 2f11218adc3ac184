"""Apply `[servers.NAME]` of octoc.toml: it declares builtin servers, and sets how those of any file are used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from octoc.bundle.model import ServerDefinition, ToolPolicy
from octoc.bundle.pin_limits import PinLimits
from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.resolved import Server
from octoc.compiler.model.settings import PinModes, ServerSettings, WorkspaceSettings
from octoc.compiler.resolve.bundle_fields import bundle_fields
from octoc.compiler.resolve.servers import Servers
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import UNUSED_SETTING
from octoc.diagnostics.rules.resolve import BUILTIN_NAME, UNKNOWN_SERVER, UNKNOWN_TOOL, UNPINNED_SERVER
from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import name_list
from octoc.names import BUILTIN, glob_matches


def tuned(servers: Servers, defined: Iterable[str], settings: WorkspaceSettings, sink: DiagnosticSink) -> Servers:
    """Return the servers with their settings of octoc.toml; report settings of unknown servers and tools.

    Args:
        defined: names of all definitions, also of disabled ones and those that no capability in use has.
    """
    at = settings.place.child("servers")
    names, elsewhere = servers.by_name, frozenset(defined)
    for name in (name for name in settings.servers if name not in names):
        key = at.child(name).key()
        if name in elsewhere:
            sink.report(
                UNUSED_SETTING,
                f"server `{name}` is not in the bundle: it is disabled, or no capability in use has it",
                at=key,
                severity=Severity.INFO,
            )
        else:
            sink.report(
                UNKNOWN_SERVER,
                f"`[servers]` sets something for server `{name}`, which is not defined",
                at=key,
                label="nothing defines a server of this name",
                help=did_you_mean(name, names) or _there_are(names),
                fix=renamed(key, name, names.keys() - settings.servers.keys()),
            )
    found = tuple(
        _tuned(server, settings.servers[server.name], at.child(server.name), sink)
        if server.name in settings.servers
        else server
        for server in servers.all
    )
    shared = settings.runtime.inherit_env
    found = tuple(
        attrs.evolve(server, inherit_env=tuple(dict.fromkeys((*shared, *server.inherit_env))))
        if shared or server.inherit_env
        else server
        for server in found
    )
    found = tuple(attrs.evolve(server, pins=_pin_limits(server, settings, sink)) for server in found)
    return attrs.evolve(servers, all=found)


def _pin_limits(server: Server, settings: WorkspaceSettings, sink: DiagnosticSink) -> PinLimits:
    """Return how far a server may differ from its pins; report one that production refuses as it has none."""
    if server.transport == BUILTIN:
        return PinLimits()  # the host or a plugin brings its tools
    is_strict = settings.mode == "production"
    own = settings.servers[server.name].pins if server.name in settings.servers else PinModes()
    modes: dict[str, Any] = {
        kind: getattr(own, kind) or getattr(settings.pins, kind) or ("refuse" if is_strict else "warn")
        for kind in attrs.fields_dict(PinModes)
    }
    is_refused = is_strict and not server.listed and server.name not in (settings.pins.unpinned or ())
    if is_refused:
        sink.report(
            UNPINNED_SERVER,
            f"server `{server.name}` has no snapshot, so production mode does not connect it",
            at=server.place,
            help=f'run `octoc pin {server.name}`, or set `[pins] unpinned = ["{server.name}"]`',
        )
    return PinLimits(**modes, unpinned="refuse" if is_refused else "allow")


def _there_are(names: Mapping[str, Server]) -> str:
    return f"there are {name_list(names)}" if names else "define it in a file of `[mcp] files`"


def _tuned(server: Server, settings: ServerSettings, at: Place, sink: DiagnosticSink) -> Server:
    if settings.builtin not in {None, server.name}:
        sink.report(
            BUILTIN_NAME,
            f"builtin server `{server.name}` is bound by its own name, not as `{settings.builtin}`",
            at=at.child("builtin"),
            help=f'write `builtin = "{server.name}"`, or call the table `[servers.{settings.builtin}]`',
        )
    # Tools before the server's filter: a glob that matches a filtered tool is not a mistake.
    recorded = [tool.name for tool in server.snapshot.listing.tools] if server.snapshot is not None else []
    for glob in settings.tools:
        if server.listed and not any(glob_matches(glob, name) for name in recorded):
            key = at.child("tools", glob).key()
            sink.report(
                UNKNOWN_TOOL,
                f"`{glob}` matches no tool of server `{server.name}`",
                at=key,
                help=did_you_mean(glob.rstrip("*"), recorded),
                severity=Severity.WARNING,
                fix=None if glob.endswith("*") else renamed(key, glob, recorded),
            )
    policies = tuple(
        ToolPolicy(glob=glob, **bundle_fields(ToolPolicy, settings.tools[glob]))
        for glob in sorted(settings.tools, key=_specific_first)
    )
    if settings.settings and server.transport != BUILTIN:
        sink.report(
            UNUSED_SETTING,
            f"`settings` of server `{server.name}` are in effect only for a builtin server",
            at=at.child("settings").key(),
            help="write them where the server is defined",
        )
    fields = bundle_fields(ServerDefinition, settings)
    fields.pop("settings", None)  # of a builtin server, they are in its definition
    fields.pop("pins")  # `_pin_limits` adds what holds for all servers
    seconds = {} if server.snapshot is None else server.snapshot.seconds
    later = () if settings.timeout is not None else (ToolPolicy(glob=name, timeout_s=s) for name, s in seconds.items())
    return attrs.evolve(server, policies=(*policies, *later), **fields)


def _specific_first(glob: str) -> tuple[bool, int, str]:
    return (glob.endswith("*"), -len(glob), glob)
