"""Rules over repetitions: a tool that two capabilities grant, a server that many files define."""

from __future__ import annotations

from collections import Counter

import attrs

from octoc.compiler.lint.taps.lookup import SHOWN, all_providers, providers_of
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Capability, ServerGrant
from octoc.compiler.model.source import ProviderSource, ServerSource
from octoc.compiler.resolve.servers import DEFAULT_TIMEOUT_S
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.lint_taps import REPEATED_DEFINITION, SHARED_TOOL
from octoc.lists import all_of, some_names
from octoc.names import ToolPattern, any_glob_matches, glob_matches
from octoc.plugin.lint import lint_check


@lint_check(SHARED_TOOL)
def check_shared_tools(build: Build, sink: DiagnosticSink) -> None:
    """Report a capability that grants a tool that an earlier one grants too: once for each server, with all others."""
    providers = providers_of(build)
    granting: dict[str, list[tuple[Capability, ServerGrant]]] = {}
    for capability in build.resolved.capabilities:
        for grant in capability.grants:
            granting.setdefault(grant.server, []).append((capability, grant))
    for server, owners in granting.items():
        for number, (other, second) in enumerate(owners):
            before = [(one, shared) for one, first in owners[:number] if (shared := _shared(first, second))]
            if not before:
                continue
            tools = some_names(sorted({tool for _, shared in before for tool in shared}), SHOWN)
            one, shared = before[0]
            message = f"capabilities `{one.name}` and `{other.name}` both grant {tools} of server `{server}`"
            if len(before) > 1:
                message = f"capability `{other.name}` grants {tools} of server `{server}`, as {len(before)} others do"
            sink.report(
                SHARED_TOOL,
                message,
                at=_granted_at(providers.get(other.name), other, shared[0]),
                related={
                    f"`{one.name}` grants it here": _granted_at(providers.get(one.name), one, shared[0])
                    for one, shared in before[:SHOWN]
                },
                notes=("Octomind: disabling one takes it from the other too; octoc keeps it while one is active",),
                help="leave it in one of them",
            )


@lint_check(REPEATED_DEFINITION)
def check_repeated_definitions(build: Build, sink: DiagnosticSink) -> None:
    """Report each server with equal definitions in several files of the taps."""
    by_meaning: dict[str, list[ServerSource]] = {}
    servers = [server for _, provider in all_providers(build) for server in provider.servers]
    servers.extend(s for agent in build.sources.agents if agent.tap for s in agent.inline_servers)
    often = Counter((server.name, server.command) for server in servers)
    for server in servers:
        if often[server.name, server.command] == 1:
            continue
        by_meaning.setdefault(_meaning(server), []).append(server)
    for same in by_meaning.values():
        files = list(dict.fromkeys(server.place.file for server in same))
        if len(files) < 2:
            continue
        first, *others = same
        limits = sorted({DEFAULT_TIMEOUT_S if one.timeout_s is None else one.timeout_s for one in same})
        notes = ["octoc takes equal definitions as one server; once they differ, there are two"]
        how = "alike"
        if len(limits) > 1:
            how = f"alike, with time-outs of {all_of([f'{one:g}' for one in limits])} s"
            notes.append(f"octoc waits {limits[-1]:g} s, the longest; Octomind takes the first definition")
        sink.report(
            REPEATED_DEFINITION,
            f"{len(files)} files define server `{first.name}` {how}",
            at=first.place.child("name"),
            related={f"again here ({number})": other.place.child("name") for number, other in enumerate(others, 2)},
            notes=tuple(notes),
            help="change them together" if len(limits) == 1 else "give them one time-out, and change them together",
        )


def _shared(one: ServerGrant, other: ServerGrant) -> list[str]:
    """Return the tools that both grants contain, or the patterns if the tools are unknown."""
    if one.tools and other.tools:
        return sorted({tool.tool for tool in one.tools} & {tool.tool for tool in other.tools})
    both = {
        longer
        for left in one.globs
        for right in other.globs
        for shorter, longer in (sorted((left, right), key=lambda glob: len(glob.rstrip("*"))),)
        if glob_matches(shorter, longer.rstrip("*")) and (longer == shorter or shorter.endswith("*"))
    }
    return sorted(both)


def _granted_at(provider: ProviderSource | None, capability: Capability, tool: str) -> Place:
    if provider is None:
        return capability.place
    bare = tool.rstrip("*")
    for located in provider.allowed_tools or ():
        if any_glob_matches((ToolPattern.parse(located.value).glob,), bare):
            return located.place
    return provider.place.child("roles", "mcp", "allowed_tools")


def _meaning(server: ServerSource) -> str:
    """Return a text of all fields of a definition except its place and its time-out, to compare definitions."""
    fields = attrs.asdict(server, filter=lambda field, _: field.name not in ("place", "timeout_s"))
    return repr(sorted(fields.items()))
