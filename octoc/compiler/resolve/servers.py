"""Make servers of definitions: equal definitions of one name are one server, and a different one is renamed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.model import ServerDefinition
from octoc.compiler.inputs.mcp.claude import CLAUDE
from octoc.compiler.model.resolved import Server
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import ServerSource, SnapshotSource
from octoc.compiler.pin.packages import package_of
from octoc.compiler.resolve.foreign import foreign_references, report_foreign
from octoc.compiler.resolve.own_gateway import is_own_gateway
from octoc.compiler.resolve.secrets import reference_secrets
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import (
    BUILTIN_SERVER,
    NO_SNAPSHOT,
    ORPHAN_SNAPSHOT,
    OWN_GATEWAY,
    SERVER_DISABLED,
    SERVER_RENAMED,
    STALE_SNAPSHOT,
    TOOL_LEFT_OUT,
    UNKNOWN_TOOL,
    UNMATCHED_EXCLUSION,
)
from octoc.diagnostics.suggest import did_you_mean, slips_of
from octoc.installation import TOOL_PLUGINS
from octoc.lists import some_names
from octoc.names import BUILTIN, glob_matches, passes_filter
from octoc.plugin.file_kinds import Dialect
from octoc.references import variables_needed
from octoc.results import ListedTool

DEFAULT_TIMEOUT_S: float = attrs.fields_dict(ServerDefinition)["timeout_s"].default or 0.0

_FIRST_OF_TAP = ("mcp", "servers", 0)


@attrs.frozen(kw_only=True)
class OwnedDefinition:
    """A definition and its owner: a capability, an agent, or the stem of a file.

    Args:
        open: the definition is in a file of `[mcp] files`, so that every agent may see the whole server.
        private_to: the agent whose own file defines the server.
        tap: the tap of the definition; empty for the workspace's own files.
    """

    source: ServerSource
    owner: str
    dialect: Dialect = CLAUDE
    open: bool = False
    private_to: str | None = None
    tap: str = ""


@attrs.frozen(kw_only=True)
class Servers:
    """All servers in order of precedence, and place of a definition -> name of its server."""

    all: tuple[Server, ...]
    name_at: Mapping[Place, str]

    @cached_property
    def by_name(self) -> Mapping[str, Server]:
        return {server.name: server for server in self.all}


def resolve_servers(
    definitions: Iterable[OwnedDefinition],
    snapshots: Iterable[SnapshotSource],
    sink: DiagnosticSink,
    settings: WorkspaceSettings,
    root: Path,
) -> Servers:
    """Make the servers of `definitions`; the first definition of a name keeps the name. `root` is the workspace."""
    made: dict[str, Server] = {}
    variants: dict[str, list[str]] = {}
    name_at: dict[Place, str] = {}
    definitions = tuple(definitions)
    beside = Counter(
        one.source.place.file for one in definitions if not (one.source.disabled or is_own_gateway(one.source, root))
    )
    for definition in definitions:
        if definition.source.disabled:
            reference_secrets(definition.source, sink, definition.dialect)  # the file shows them all the same
            sink.report(
                SERVER_DISABLED, f"server `{definition.source.name}` is disabled", at=definition.source.place.key()
            )
            continue
        if is_own_gateway(definition.source, root):
            _report_gateway(definition.source, beside[definition.source.place.file], sink)
            continue
        server = _server(definition, sink)
        if definition.tap:
            taken = foreign_references(definition.source, definition.owner)
            server = attrs.evolve(server, foreign=tuple(sorted({one.name for one in taken})))
            report_foreign(taken, server.name, definition.tap, settings, sink)
        same = next((name for name in variants.get(server.name, ()) if _same(made[name], server)), None)
        if same is not None:
            made[same] = _merged(made[same], server)
            name_at[definition.source.place] = same
            continue
        server = _named(server, definition, made, variants, sink)
        made[server.name] = server
        name_at[definition.source.place] = server.name
    return Servers(all=_with_snapshots(made, snapshots, sink), name_at=name_at)


def owner_of_file(display: str) -> str:
    """Return the stem that names a file's renamed servers: `mcp` for `.mcp.json`."""
    return PurePosixPath(display).name.lstrip(".").split(".")[0]


def _report_gateway(gateway: ServerSource, others: int, sink: DiagnosticSink) -> None:
    """Report octoc's own gateway: beside servers of its own, the client that reads the file has their tools twice."""
    message = f"server `{gateway.name}` is octoc's own gateway, so it is not served"
    if not others:
        sink.report(OWN_GATEWAY, message, at=gateway.place.key())
        return
    count = "1 server" if others == 1 else f"{others} servers"
    sink.report(
        OWN_GATEWAY,
        f"{message}; a client that reads it beside {count} has their tools twice",
        at=gateway.place.key(),
        help="keep them in a file that only `[mcp] files` names: `octoc init --copy-servers servers.json` makes one",
        severity=Severity.WARNING,
    )


def _server(definition: OwnedDefinition, sink: DiagnosticSink) -> Server:
    source = reference_secrets(definition.source, sink, definition.dialect)
    reached = source.reached
    package = package_of(source.command, source.args) if source.command else None
    return Server(
        name=source.name,
        place=source.place,
        **reached,
        timeout_s=DEFAULT_TIMEOUT_S if source.timeout_s is None else source.timeout_s,
        include=source.include,
        exclude=source.exclude,
        definition=sha256_hex(canonical_json({key: value for key, value in reached.items() if value})),
        package=None if package is None else package.name,
        requires_env=tuple(sorted(variables_needed(reached))),
        open=definition.open,
        private_to=() if definition.private_to is None else (definition.private_to,),
        private=definition.private_to is not None,
    )


def _same(one: Server, other: Server) -> bool:
    return (one.definition, one.include, one.exclude) == (other.definition, other.include, other.exclude)


def _merged(one: Server, other: Server) -> Server:
    return attrs.evolve(
        one,
        timeout_s=max(one.timeout_s, other.timeout_s),
        open=one.open or other.open,
        foreign=tuple(sorted({*one.foreign, *other.foreign})),
        private_to=(*one.private_to, *other.private_to),
        private=one.private and other.private,
    )


def _named(
    server: Server,
    definition: OwnedDefinition,
    made: Mapping[str, Server],
    variants: dict[str, list[str]],
    sink: DiagnosticSink,
) -> Server:
    base, name = server.name, server.name
    if name in made:
        own = f"{base}-{re.sub(r'[^A-Za-z0-9_.-]+', '-', definition.owner)}"
        name, number = own, 2
        while name in made:
            name, number = f"{own}-{number}", number + 1
        sink.report(
            SERVER_RENAMED,
            f"server `{base}` is defined differently elsewhere; this definition becomes `{name}`",
            at=server.place,
            label="this definition gets another name",
            related={f"keeps the name `{base}`": made[base].place},
            help="give one of them another name, or make the definitions equal",
        )
    variants.setdefault(base, []).append(name)
    return server if name == base else attrs.evolve(server, name=name)


def _with_snapshots(
    made: Mapping[str, Server], snapshots: Iterable[SnapshotSource], sink: DiagnosticSink
) -> tuple[Server, ...]:
    recorded: dict[str, SnapshotSource] = {}
    for snapshot in snapshots:
        if snapshot.server not in made:
            sink.report(
                ORPHAN_SNAPSHOT,
                f"no server is called `{snapshot.server}`",
                at=snapshot.place.child("server"),
                help=did_you_mean(snapshot.server, made)
                or "define the server again, pin it under its new name, or delete the file",
            )
        elif snapshot.server in recorded:
            sink.report(
                ORPHAN_SNAPSHOT,
                f"server `{snapshot.server}` has another snapshot already",
                at=snapshot.place.child("server"),
                related={"this one is used": recorded[snapshot.server].place},
                help="delete one of the two files",
            )
        else:
            recorded[snapshot.server] = snapshot
    return tuple(_listed(_with_prefixes(server, sink), recorded.get(server.name), sink) for server in made.values())


def _with_prefixes(server: Server, sink: DiagnosticSink) -> Server:
    """Return the server with each exclusion cut at its first inner `*`, so that it excludes more; report the cuts."""
    for glob in server.exclude:
        if "*" in glob[:-1]:
            sink.report(
                UNMATCHED_EXCLUSION,
                f"`{glob}` in the exclude_tools of server `{server.name}` is read as `{glob.partition('*')[0]}*`",
                at=server.place,
                help="only a `*` at the end stands for any text: name each tool, or what their names begin with",
            )
    wider = tuple(f"{glob.partition('*')[0]}*" if "*" in glob[:-1] else glob for glob in server.exclude)
    return server if wider == server.exclude else attrs.evolve(server, exclude=wider)


def _how_to_bind(server: str) -> str:
    bind = f'bind them with `runtime.bind("{server}", tools)`'
    plugin = TOOL_PLUGINS.get(server)
    return bind if plugin is None else f"install `octoc-{plugin}` and name `{plugin}` in `[plugins] use`, or {bind}"


def _listed(server: Server, snapshot: SnapshotSource | None, sink: DiagnosticSink) -> Server:
    if server.transport == BUILTIN and snapshot is not None:
        return attrs.evolve(
            server, snapshot=snapshot, tools=tuple(t for t in snapshot.listing.tools if _passes(server, t))
        )
    if server.transport == BUILTIN:
        sink.report(
            BUILTIN_SERVER,
            f"server `{server.name}` is builtin: it has the tools that the host or a plugin binds to it",
            at=server.place,
            help=_how_to_bind(server.name),
        )
        return server
    if snapshot is None:
        sink.report(
            NO_SNAPSHOT,
            f"server `{server.name}` has no snapshot of its tools",
            at=_file_or_place(server.place),
            help=f"run `octoc pin {server.name}`",
            subject="all",
        )
        return server
    if snapshot.definition != server.definition:
        sink.report(
            STALE_SNAPSHOT,
            f"the snapshot of server `{server.name}` was recorded from another definition",
            at=snapshot.place.child("definition"),
            related={"the definition in use": server.place},
            help=f"`octoc pin --check {server.name}` shows the change, `octoc pin --approve {server.name}` records it",
        )
    for index, line in enumerate(snapshot.listing.left_out):
        sink.report(
            TOOL_LEFT_OUT,
            f"server `{server.name}` listed a tool that was left out, {line}",
            at=snapshot.place.child("leftOut", index),
            help=f"correct the tool in the server, then run `octoc pin {server.name}`",
        )
    names = [tool.name for tool in snapshot.listing.tools]
    for glob in server.include or ():
        if not any(glob_matches(glob, name) for name in names):
            sink.report(
                UNKNOWN_TOOL,
                f"`{glob}` in the include_tools of server `{server.name}` matches none of its tools",
                at=server.place,
                help=did_you_mean(glob.rstrip("*"), names),
            )
    server = attrs.evolve(server, exclude=(*server.exclude, *_corrected(server, names, sink)))
    return attrs.evolve(server, snapshot=snapshot, tools=tuple(t for t in snapshot.listing.tools if _passes(server, t)))


def _file_or_place(place: Place) -> Place:
    """Return the file of a tap's first server as its place: most define one, and no line need be looked for."""
    return Place(file=place.file) if place.path == _FIRST_OF_TAP else place


def _corrected(server: Server, names: Sequence[str], sink: DiagnosticSink) -> list[str]:
    """Report each exclusion that matches no recorded tool, and return the near names, or `*` if no name is near.

    So a misspelled exclusion never gives an agent a tool.
    """
    corrected: list[str] = []
    for glob in server.exclude:
        if any(glob_matches(glob, name) for name in names):
            continue
        near = slips_of(glob.rstrip("*"), names)
        instead = some_names(near) if near else "the whole server"
        sink.report(
            UNMATCHED_EXCLUSION,
            f"`{glob}` in the exclude_tools of server `{server.name}` matches none of its tools; "
            f"until it is corrected, {instead} is left out",
            at=server.place,
            help=did_you_mean(glob.rstrip("*"), names) or "delete it, or name a tool that the server has",
        )
        corrected += near or ["*"]
    return corrected


def _passes(server: Server, tool: ListedTool) -> bool:
    return passes_filter(server.include, server.exclude, tool.name)
