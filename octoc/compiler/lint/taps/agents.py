"""Rules over Octomind's agent manifests."""

from __future__ import annotations

from octoc.compiler.lint.taps.lookup import meant
from octoc.compiler.model.build import Build
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_taps import IGNORED_ROLE_NAME, OUT_OF_DOMAIN, OWN_WIRING
from octoc.lists import name_list
from octoc.plugin.lint import lint_check


@lint_check(OUT_OF_DOMAIN)
def check_domains(build: Build, sink: DiagnosticSink) -> None:
    """Report a capability that an agent grants itself although the capability names only other domains."""
    sources = {(source.tap, source.name): source for source in build.sources.capabilities}
    capabilities = {capability.name: capability for capability in build.resolved.capabilities}
    for agent in build.resolved.agents:
        domain = agent.source.domain
        if domain is None:
            continue
        for reference in agent.source.capabilities:
            capability = meant(reference, agent.capabilities, capabilities)
            if capability is None or not capability.domains or domain in capability.domains:
                continue
            config = sources[capability.tap, capability.bare].config
            sink.report(
                OUT_OF_DOMAIN,
                f"agent `{agent.name}` grants itself capability `{capability.name}`, which is for "
                f"{'domain' if len(capability.domains) == 1 else 'domains'} "
                f"{name_list(capability.domains)}",
                at=reference.place,
                related={} if config is None else {f"`{domain}` is not here": config.place.child("domains")},
                notes=("it is there from the start, and Octomind refuses to enable it again",),
                help=f'add "{domain}" to its `domains`, or leave it out of the agent',
            )


@lint_check(IGNORED_ROLE_NAME, OWN_WIRING)
def check_wiring(build: Build, sink: DiagnosticSink) -> None:
    """Report servers, tools and dependencies that a manifest names beside its capabilities, and an unused role name."""
    for agent in build.sources.agents:
        if agent.kind != "octomind":
            continue
        if agent.role_name is not None and agent.role_name.value != agent.name:
            sink.report(
                IGNORED_ROLE_NAME,
                f"role name `{agent.role_name.value}` has no effect: the file's path names the agent `{agent.name}`",
                at=agent.role_name.place,
                help="remove `name`, or rename the file",
            )
        grant = agent.place.child("roles", 0, "mcp")
        own = {
            "deps.require": agent.deps and agent.place.child("deps", "require"),
            "roles.mcp": (agent.server_refs or agent.allowed_tools) and grant,
            "mcp.servers": agent.inline_servers and agent.place.child("mcp", "servers"),
        }
        places = {key: place for key, place in own.items() if place}
        if agent.capabilities and places:
            sink.report(
                OWN_WIRING,
                f"agent `{agent.name}` has {' and '.join(f'`{key}`' for key in places)} beside `capabilities`",
                at=next(iter(places.values())),
                help="move it to a capability, so that other agents can use it too",
            )
