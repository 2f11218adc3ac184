"""Builtin servers that octoc.toml declares, and the tools that plugins bind to them."""

from __future__ import annotations

from collections.abc import Iterator

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.compiler.context import Context
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import ServerSource, SnapshotSource
from octoc.diagnostics.rules.resolve import BUILTIN_REFUSED
from octoc.installation import TOOL_PLUGINS
from octoc.names import BUILTIN
from octoc.plugin.protocols import PluginError, ServerTarget
from octoc.results import ServerListing


def builtin_servers(settings: WorkspaceSettings) -> list[ServerSource]:
    """Return the builtin servers that octoc.toml declares."""
    at = settings.place.child("servers")
    return [
        ServerSource(name=name, place=at.child(name), transport=BUILTIN, settings=server.settings or {})
        for name, server in settings.servers.items()
        if server.builtin is not None
    ]


def builtin_snapshots(settings: WorkspaceSettings, context: Context) -> Iterator[SnapshotSource]:
    """Yield what plugins bind to the builtin servers of octoc.toml; report a plugin that refuses a server."""
    for server in builtin_servers(settings):
        target = ServerTarget(
            name=server.name,
            transport=BUILTIN,
            settings=server.settings,
            cwd=str(context.root),
            production=settings.mode == "production",
        )
        try:
            tools = context.plugins.tools(target)
        except PluginError as error:
            at = server.place.child("settings") if server.settings else server.place
            context.sink.report(BUILTIN_REFUSED, f"builtin server `{server.name}` has no tools: {error}", at=at)
            continue
        # A plugin that is missing is reported as such.
        if not tools and server.settings and not context.plugins.missing:
            context.sink.report(
                BUILTIN_REFUSED,
                f"builtin server `{server.name}` has settings, and no plugin in use binds tools to it",
                at=server.place.child("settings").key(),
                help=f"name {_plugin_of(server.name)} in `[plugins] use`, or delete the settings",
            )
        if not tools:
            continue
        listed = tuple(tool.listed for tool in tools)
        yield SnapshotSource(
            server=server.name,
            place=server.place,
            definition="",
            listing=ServerListing(server_info={}, protocol_version="", instructions=None, tools=listed),
            digest=sha256_hex(canonical_json([tool.wire for tool in listed])),
            roles={tool.name: tool.direct_for for tool in tools if tool.direct_for},
            seconds={tool.name: tool.timeout_s for tool in tools if tool.timeout_s is not None},
        )


def _plugin_of(server: str) -> str:
    return f"`{TOOL_PLUGINS[server]}`" if server in TOOL_PLUGINS else "the plugin"
