"""Report grants of tools that another area or agent owns, and groups that no agent has."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence

from octoc.compiler.model.located import Located
from octoc.compiler.model.scopes import Reach, ScopeGrant, ToolGroup
from octoc.compiler.scope.ceiling import CeilingScopes
from octoc.compiler.scope.owners import OwnedGroup
from octoc.compiler.scope.tools import ToolSet, missing
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import GRANT_OUTSIDE_AREA, UNGRANTED_GROUP, WITHHELD_GRANT
from octoc.lists import some_names

_SHOWN = 3


def check_scopes(limits: CeilingScopes, sink: DiagnosticSink) -> None:
    """Report every grant that cannot give what it names, and every group that is not granted to any agent."""
    for grant in limits.scopes.grants:
        if grant.source.enabled:
            _check_grant(grant, limits, sink)
    for one in limits.owners.groups:
        _check_ungranted(one, limits, sink)


def _check_grant(grant: ScopeGrant, limits: CeilingScopes, sink: DiagnosticSink) -> None:
    agents = sorted(grant.agents - limits.scopes.left_out)
    for entry, group in grant.groups.items():
        _check_group(entry, group, agents, limits, sink)
    for entry, reach in grant.tools.items():
        _check_tools(entry, reach, agents, limits, sink)
    for entry, names in grant.capabilities.items():
        for name in names:
            _check_capability(entry, name, agents, limits, sink)


def _check_group(
    entry: Located[str], group: ToolGroup, agents: Sequence[str], limits: CeilingScopes, sink: DiagnosticSink
) -> None:
    source = group.source
    if group.broken or source.is_global:
        return
    if source.agent is not None:
        outside = [agent for agent in agents if agent != source.agent.value]
        owner, at = f"agent `{source.agent.value}`", source.agent.place
        advice = "delete `agent` from the group, or the group from the grant"
        related = {f"`{group.name}` is of {owner} here": at}
    else:
        assert source.area is not None  # noqa: S101  # the group is not global
        area = limits.scopes.areas.get(source.area.value)
        if area is None:  # it is switched off, and so is the group
            return
        outside = [agent for agent in agents if area.name not in limits.owners.areas_of(agent)]
        owner, at = f"area `{area.name}`", source.area.place
        advice = (
            f"add {_names(outside)} to `agents` or `shared` of `[areas.{area.name}]`, or grant it to its agents alone"
        )
        related = {f"`{group.name}` is of {owner} here": at, f"{owner} is here": area.place.key()}
    if outside:
        verb = "is" if len(outside) == 1 else "are"
        sink.report(
            GRANT_OUTSIDE_AREA,
            f"group `{group.name}` of {owner} is granted to {_names(outside)}, which {verb} not in it"
            if source.agent is None
            else f"group `{group.name}` is of {owner} alone, and granted to {_names(outside)}",
            at=entry.place,
            related=related,
            help=advice,
        )


def _check_tools(
    entry: Located[str], reach: Reach, agents: Sequence[str], limits: CeilingScopes, sink: DiagnosticSink
) -> None:
    tools = ToolSet.of(reach, limits.fleet.index)
    lost = _losing(tools, agents, limits)
    if not lost:
        return
    owners = _owners(tools, lost, limits)
    what = f"{_some_tools(tools, lost[0], limits)} of it" if entry.value.endswith("*") else "it"
    _report(
        f"tool `{entry.value}` is granted to {_names(lost)}, and {_owned_by(owners)} {what} for itself",
        entry.place,
        owners,
        sink,
        help_=f"grant it inside {_whose(owners[0])}, or add it to a group that is global",
        severity=Severity.ERROR,
    )


def _check_capability(
    entry: Located[str], name: str, agents: Sequence[str], limits: CeilingScopes, sink: DiagnosticSink
) -> None:
    tools = limits.brought[name]
    lost = _losing(tools, agents, limits)
    if not lost:
        return
    owners = _owners(tools, lost, limits)
    is_all = [agent for agent in lost if not limits.allowed(agent, tools)]
    what = "all of its tools" if is_all else f"{_some_tools(tools, lost[0], limits)} of it"
    _report(
        f"capability `{name}` is granted to {_names(is_all or lost)}, and {_owned_by(owners)} {what} for itself",
        entry.place,
        owners,
        sink,
        help_=f"grant it inside {_whose(owners[0])}, or its other tools by themselves",
        # A glob grants only the tools that the agent may have.
        severity=Severity.ERROR if is_all and not entry.value.endswith("*") else Severity.WARNING,
    )


def _losing(tools: ToolSet, agents: Iterable[str], limits: CeilingScopes) -> list[str]:
    losing: dict[Hashable, bool] = {}
    found = []
    for agent in agents:
        standing = limits.owners.standing(agent)
        if standing not in losing:
            losing[standing] = bool(missing(tools, limits.allowed(agent, tools)))
        if losing[standing]:
            found.append(agent)
    return found


def _owners(tools: ToolSet, agents: Sequence[str], limits: CeilingScopes) -> tuple[OwnedGroup, ...]:
    return limits.owners.owners(agents[0], tools)


def _report(
    message: str, at: Place, owners: Sequence[OwnedGroup], sink: DiagnosticSink, *, help_: str, severity: Severity
) -> None:
    related = {f"in group `{one.group.name}` of {_whose(one)}": one.group.source.place for one in owners[:_SHOWN]}
    sink.report(WITHHELD_GRANT, message, at=at, related=related, help=help_, severity=severity)


def _whose(one: OwnedGroup) -> str:
    source = one.group.source
    if source.agent is not None:
        return f"agent `{source.agent.value}`"
    return f"area `{source.area.value}`" if source.area is not None else f"group `{source.name}`"


def _owned_by(owners: Sequence[OwnedGroup]) -> str:
    names = list(dict.fromkeys(map(_whose, owners)))
    return f"{' and '.join(names)} {'has' if len(names) == 1 else 'have'}"


def _some_tools(tools: ToolSet, agent: str, limits: CeilingScopes) -> str:
    lost = missing(tools, limits.allowed(agent, tools))
    names = {number: str(tool) for tool, number in limits.fleet.index.items() if number in lost.numbers}
    globs = sorted(f"{server}/{glob}" for server, glob in lost.globs)
    return _names([*(names[number] for number in sorted(names)), *globs])


def _check_ungranted(one: OwnedGroup, limits: CeilingScopes, sink: DiagnosticSink) -> None:
    group, scopes = one.group, limits.scopes
    source = group.source
    is_off = not source.enabled or (source.area is not None and source.area.value not in scopes.areas)
    if group.broken or source.agent is not None or is_off:
        return
    if any(group is named for grant in scopes.grants for named in grant.groups.values()):
        return
    if scopes.profile == "allow" and (source.area is not None or _shares(one, limits.owners.groups)):
        return
    why = "profile `deny` gives agents only granted tools" if scopes.profile == "deny" else "every agent has its tools"
    sink.report(
        UNGRANTED_GROUP,
        f"group `{group.name}` is not granted to any agent",
        at=source.place.key(),
        related={f"the profile is `{scopes.profile}`": scopes.at},
        notes=(why,),
        help=f'add `[[grants]]` with its `agents` and `groups = ["{group.name}"]`, or delete the group',
    )


def _shares(one: OwnedGroup, groups: Collection[OwnedGroup]) -> bool:
    """Tell whether a global group shares a tool that the group of an area or agent would otherwise withhold."""
    return any(not other.group.source.is_global and other.tools & one.tools for other in groups)


def _names(names: Sequence[str]) -> str:
    return some_names(names, _SHOWN)
