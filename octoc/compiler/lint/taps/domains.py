"""A rule over domains that capabilities and skills name and that no agent has."""

from __future__ import annotations

from collections.abc import Iterator

from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_taps import UNKNOWN_DOMAIN
from octoc.diagnostics.suggest import did_you_mean
from octoc.plugin.lint import lint_check


@lint_check(UNKNOWN_DOMAIN)
def check_unknown_domains(build: Build, sink: DiagnosticSink) -> None:
    """Report each domain that no agent of the workspace has, if any agent has a domain.

    Source: Octomind, an agent's domain is the folder of its manifest.
    """
    sources = build.sources
    of_agents = {agent.domain for agent in sources.agents if agent.domain is not None}
    if not of_agents:
        return
    for what, domain in _named(build):
        if domain.value not in of_agents:
            sink.report(
                UNKNOWN_DOMAIN,
                f"{what} is for domain `{domain.value}`, which no agent has",
                at=domain.place,
                help=did_you_mean(domain.value, of_agents) or "correct it, or delete it",
                fix=renamed(domain.place, domain.value, of_agents),
            )


def _named(build: Build) -> Iterator[tuple[str, Located[str]]]:
    sources = build.sources
    for capability in sources.capabilities:
        # In a capability that only adds triggers, domains have no effect.
        if capability.config is not None and not capability.adds_triggers:
            yield from ((f"capability `{capability.name}`", domain) for domain in capability.config.domains)
    for skill in sources.skills:
        yield from ((f"skill `{skill.name}`", domain) for domain in skill.domains)
