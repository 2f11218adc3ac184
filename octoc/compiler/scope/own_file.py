"""Report tools, capabilities and skills that an agent's own file asks for and its scope does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from octoc.bundle.model import Registry
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Agent
from octoc.compiler.resolve.spelling import meet, qualified
from octoc.compiler.scope.ceiling import Ceiling, CeilingScopes, granted_to, tools_of
from octoc.compiler.scope.confine import reached
from octoc.compiler.scope.hosts import HOST_TOOLS, host_name
from octoc.compiler.scope.tools import ToolSet, missing
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.resolve import NOT_GRANTED
from octoc.names import glob_matches


def check_own_file(
    agent: Agent, before: Registry, after: Registry, ceiling: Ceiling, limits: CeilingScopes, sink: DiagnosticSink
) -> None:
    """Report what only `before` has: the registry by the agent's file. `after` is the confined registry."""
    source = agent.source
    for entry in source.capabilities:
        name = entry.value.rpartition("/")[2]
        if name in before.boot and name not in after.boot:
            _report(agent, f"capability `{name}`", entry.place, limits.brought[name], limits, sink)
    for entry in source.skills or ():
        if entry.value in before.skills and entry.value not in after.skills:
            _report(agent, f"skill `{entry.value}`", entry.place, ToolSet(), limits, sink)
    built_in = {name for server in limits.fleet.servers.values() for name in server.roles}
    if source.tools is not None and source.type != "supervisor":
        for entry in source.tools:
            if entry.value in built_in or host_name(entry.value) not in HOST_TOOLS:
                asked = _asked(entry, before, limits)
                if _lost(asked, ceiling):
                    _report(agent, f"tool `{entry.value}`", entry.place, asked, limits, sink)
    places = {server.name: server.place for server in source.inline_servers}
    places |= {reference.value: reference.place for reference in source.server_refs}
    for grant in agent.own_grants:
        asked = tools_of((grant,), limits.fleet) & reached(before)
        if _lost(asked, ceiling):
            _report(agent, f"server `{grant.server}`", places.get(grant.server, source.place), asked, limits, sink)


def _lost(asked: ToolSet, ceiling: Ceiling) -> bool:
    return bool(missing(asked, ceiling.tools))


def _asked(entry: Located[str], before: Registry, limits: CeilingScopes) -> ToolSet:
    """Return the tools of the registry that an entry of the agent's `tools` means."""
    named = qualified(entry.value, limits.fleet.servers)
    has = reached(before)
    ids = {number: tool for tool, number in limits.fleet.index.items() if number in has.numbers}
    if named is None:
        return ToolSet(frozenset(number for number, tool in ids.items() if glob_matches(entry.value, tool.tool)))
    server, glob = named
    numbers = (number for number, tool in ids.items() if tool.server == server and glob_matches(glob, tool.tool))
    globs = ((of, meet(glob, other)) for of, other in has.globs if of == server)
    return ToolSet(frozenset(numbers), frozenset((of, both) for of, both in globs if both is not None))


def _report(agent: Agent, what: str, at: Place, tools: ToolSet, limits: CeilingScopes, sink: DiagnosticSink) -> None:
    scopes = limits.scopes
    owners = limits.owners.owners(agent.name, tools)
    if owners:
        related: Mapping[str, Place] = {
            f"group `{one.group.name}` has it for others": one.group.source.place for one in owners
        }
        why, advice = "others have it for themselves", f"delete it, or give `{agent.name}` a group that has it"
    else:
        related = dict(_nearest(agent.name, limits))
        why, advice = "is not granted to it", "delete it, or add it to a `[[grants]]` of the agent"
        what = f"{what}, which"
    text = (
        f"agent `{agent.name}` asks for {what} {why}"
        if not owners
        else f"agent `{agent.name}` asks for {what}, and {why}"
    )
    sink.report(
        NOT_GRANTED, text, at=at, related={**related, f"the profile is `{scopes.profile}`": scopes.at}, help=advice
    )


def _nearest(agent: str, limits: CeilingScopes) -> Iterator[tuple[str, Place]]:
    for grant in granted_to(agent, limits.scopes)[:1]:
        yield "what is granted to it", grant.source.place
