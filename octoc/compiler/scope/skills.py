"""The skills that an agent may use."""

from __future__ import annotations

from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.resolved import Agent
from octoc.compiler.scope.fleet import Fleet
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import UNKNOWN_SKILL
from octoc.diagnostics.suggest import did_you_mean


def skills_of(agent: Agent, fleet: Fleet, sink: DiagnosticSink) -> tuple[str, ...]:
    """Return the names of the agent's skills, sorted.

    An agent has the skills that it names; `skills: []` names none. Otherwise it has the skills of its domain and those
    without a domain; for an agent without a domain `[routing] domainless` decides, as for capabilities. Project agents
    and agents with `tools` have only skills that they name.
    """
    source = agent.source
    if source.skills is not None:
        for reference in source.skills:
            if reference.value not in fleet.skills:
                sink.report(
                    UNKNOWN_SKILL,
                    f"agent `{agent.name}` names skill `{reference.value}`, which no folder has",
                    at=reference.place,
                    help=did_you_mean(reference.value, fleet.skills)
                    or f"add `.agents/skills/{reference.value}/SKILL.md`, or delete the name",
                    fix=renamed(reference.place, reference.value, fleet.skills),
                )
        return tuple(sorted({reference.value for reference in source.skills} & fleet.skills.keys()))
    has_tools = source.tools is not None and source.type != "supervisor"
    if source.kind != "octomind" and (source.type == "project" or has_tools):
        return ()

    def admitted(domains: frozenset[str]) -> bool:
        if not domains:
            return True
        return fleet.domainless == "all" if source.domain is None else source.domain in domains

    skills = ((name, frozenset(one.value for one in skill.domains)) for name, skill in fleet.skills.items())
    return tuple(sorted(name for name, domains in skills if admitted(domains)))
