"""The skills that an agent may use."""

from __future__ import annotations

from octoc.compiler.fixes.edits import renamed
from octoc.compiler.inputs.skill import FOLDER_OF_AGENTS, SHARED_FOLDER
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Agent
from octoc.compiler.scope.fleet import Fleet
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import UNKNOWN_SKILL
from octoc.diagnostics.suggest import did_you_mean, slips_of


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
                _report_unknown(agent, reference, fleet, sink)
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


def _report_unknown(agent: Agent, reference: Located[str], fleet: Fleet, sink: DiagnosticSink) -> None:
    """Report a skill that no folder has. A Claude Code agent may name one of a plugin or of the user's own folder."""
    near = did_you_mean(reference.value, fleet.skills)
    is_claudes = agent.source.kind == "claude"
    folder = FOLDER_OF_AGENTS.get(agent.source.kind, SHARED_FOLDER)
    elsewhere = ", unless a plugin or the user has it" if is_claudes else ""
    sink.report(
        UNKNOWN_SKILL,
        f"agent `{agent.name}` names skill `{reference.value}`, which no folder has",
        at=reference.place,
        help=near or f"add `{folder}/{reference.value}/SKILL.md`, or delete the name{elsewhere}",
        severity=Severity.INFO if is_claudes and not slips_of(reference.value, fleet.skills) else None,
        fix=renamed(reference.place, reference.value, fleet.skills),
        subject=f"skills of {agent.source.place.file}",
    )
