"""Apply `[[deny]]` to every registry, and report the ways on which an agent reaches a denied tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from octoc.bundle.model import Registry
from octoc.compiler.model.resolved import Agent
from octoc.compiler.model.scopes import Deny, ReachStep
from octoc.compiler.resolve.spelling import meet
from octoc.compiler.scope.ceiling import Ceiling, CeilingScopes
from octoc.compiler.scope.confine import confined, reached_of
from octoc.compiler.scope.reasons import reasons_of
from octoc.compiler.scope.tools import ToolSet
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.resolve import BROKEN_DENY


def held_to_denials(
    agent: Agent, registry: Registry, ceiling: Ceiling, limits: CeilingScopes, sink: DiagnosticSink
) -> Registry:
    """Report each denial that the agent's registry breaks, with the way to the tool; return it without those tools."""
    for deny, denied in zip(limits.scopes.deny, limits.denied, strict=True):
        if agent.name not in deny.agents:
            continue
        broken = reached_of(registry, denied)
        if not broken:
            continue
        _report(agent, deny, broken, registry, ceiling, limits, sink)
        ceiling = attrs.evolve(ceiling, tools=ceiling.tools.without(denied))
        registry = confined(agent, registry, ceiling, limits)
    return registry


def _report(
    agent: Agent,
    deny: Deny,
    broken: ToolSet,
    registry: Registry,
    ceiling: Ceiling,
    limits: CeilingScopes,
    sink: DiagnosticSink,
) -> None:
    names = {number: str(tool) for tool, number in limits.fleet.index.items() if number in broken.numbers}
    found = [names[number] for number in sorted(names)]
    found += sorted(f"{server}/{glob}" for server, glob in broken.globs)
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    reason = f": {deny.source.reason}" if deny.source.reason else ""
    if broken.numbers:
        number = min(broken.numbers)
        ways = reasons_of(agent, registry, ceiling, limits)[number]
    else:
        ways = _ways_to(min(broken.globs), ceiling)
    related: dict[str, Place] = {}
    for way in ways:
        related |= _steps(way)
    # Skip the agent's own file: it only selects from the tools that a scope gives.
    giving = next((way for way in ways if way.kind != "agent-file"), None)
    sink.report(
        BROKEN_DENY,
        f"agent `{agent.name}` reaches `{found[0]}`{more}, which is denied{reason}",
        at=deny.source.place.child("tools"),
        related=related,
        notes=(f"the way: {' <- '.join([f'agent `{agent.name}`', *_chain(giving), f'tool `{found[0]}`'])}",),
        help=_in_file(ways) + _advice(giving),
    )


def _ways_to(glob: tuple[str, str], ceiling: Ceiling) -> tuple[ReachStep, ...]:
    server, wanted = glob
    return tuple(
        way.reason
        for way in ceiling.ways
        if any(of == server and meet(wanted, other) is not None for of, other in way.tools.globs)
    )


def _chain(reason: ReachStep | None) -> list[str]:
    if reason is None:
        return []
    is_default = reason.kind == "profile" and not reason.place.path  # no file has it
    where = f"{reason.kind} `{reason.name}` ({'the default' if is_default else reason.place.file})"
    return [where, *_chain(reason.via)]


def _steps(reason: ReachStep | None) -> Mapping[str, Place]:
    if reason is None:
        return {}
    words = {
        "profile": f"profile `{reason.name}` gives what nothing withholds",
        "area": f"it is in area `{reason.name}`",
        "group": f"group `{reason.name}` has it",
        "grant": f"`{reason.name}` is granted to it",
        "capability": f"capability `{reason.name}` brings it",
        "agent-file": f"its own file asks for `{reason.name}`",
    }
    return {words[reason.kind]: reason.place, **_steps(reason.via)}


def _in_file(ways: Sequence[ReachStep]) -> str:
    """Return the first advice for an agent whose own file asks for the tool."""
    own = next((way for way in ways if way.kind == "agent-file" and way.via is None), None)
    return "" if own is None else f"remove it from `{own.name}` of the agent's file, or "


def _advice(reason: ReachStep | None) -> str:
    if reason is None or reason.kind == "profile":
        return 'put the tool into a group of the area or agent that may have it, or write `profile = "deny"`'
    if reason.kind == "grant":
        return f"take `{reason.name}` out of the grant, or the agent"
    return f"take the agent out of {reason.kind} `{reason.name}`, or the tool out of the group"
