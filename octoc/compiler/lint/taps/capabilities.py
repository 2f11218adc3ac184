"""Rules over single capabilities: their triggers, and the servers that they grant."""

from __future__ import annotations

from octoc.compiler.lint.taps.lookup import providers_of, sources_of
from octoc.compiler.model.build import Build
from octoc.compiler.resolve.capabilities import HIGH_TRUST_SERVERS
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint import NO_TRIGGERS, NOTHING_TO_ACTIVATE
from octoc.diagnostics.rules.lint_taps import FEW_TRIGGERS, ROUTED_HIGH_TRUST
from octoc.names import BUILTIN
from octoc.plugin.lint import lint_check

FEWEST_TRIGGERS = 3
"""A score is the mean of a capability's three best triggers; Octomind's tap asks for three as well."""


@lint_check(FEW_TRIGGERS, NO_TRIGGERS)
def check_triggers(build: Build, sink: DiagnosticSink) -> None:
    """Report a capability with no trigger, and one with few triggers."""
    sources = sources_of(build)
    builtin = _high_trust_servers(build)
    for capability in build.resolved.capabilities:
        if capability.closed or capability.is_selected:  # an error excludes it, or only agents that name it have it
            continue
        if not capability.triggers:
            if any(grant.server in builtin for grant in capability.grants):
                continue  # with triggers it would be OCT425
            sink.report(
                NO_TRIGGERS,
                f"capability `{capability.name}` has no trigger: only an agent that names it, or the host, activates it"
                if capability.reserved
                else f"capability `{capability.name}` has no trigger: no message activates it",
                at=capability.place,
                help=f"add `triggers` to capabilities/{capability.name}/config.toml",
            )
        elif len(capability.triggers) < FEWEST_TRIGGERS:
            config = sources[capability.name].config
            count = "1 trigger" if len(capability.triggers) == 1 else f"{len(capability.triggers)} triggers"
            sink.report(
                FEW_TRIGGERS,
                f"capability `{capability.name}` has {count}, expected {FEWEST_TRIGGERS} or more",
                at=capability.place if config is None else config.place.child("triggers"),
                help="add what users say when they need it, in other words each time",
            )


@lint_check(NOTHING_TO_ACTIVATE)
def check_substance(build: Build, sink: DiagnosticSink) -> None:
    """Report a capability without servers and dependencies."""
    providers = providers_of(build)
    for capability in build.resolved.capabilities:
        if not capability.grants and not capability.deps:
            provider = providers.get(capability.name)
            sink.report(
                NOTHING_TO_ACTIVATE,
                f"capability `{capability.name}` has no server and no dependency left: there is nothing to activate",
                at=capability.place,
                help="correct its servers and `allowed_tools`"
                if provider is not None and (provider.servers or provider.server_refs)
                else "add a `[[mcp.servers]]` or `[deps]`",
            )


@lint_check(ROUTED_HIGH_TRUST)
def check_trust(build: Build, sink: DiagnosticSink) -> None:
    """Report a capability with triggers that grants tools that control the runtime or other agents."""
    builtin = _high_trust_servers(build)
    sources = sources_of(build)
    for capability in build.resolved.capabilities:
        trusted = [grant.server for grant in capability.grants if grant.server in builtin]
        config = sources[capability.name].config if capability.name in sources else None
        if not trusted or not capability.triggers or config is None:
            continue
        scope = "any agent" if not capability.domains else f"any agent of {', '.join(capability.domains)}"
        where = f"{scope}, where Octomind runs the tap" if capability.reserved else scope
        sink.report(
            ROUTED_HIGH_TRUST,
            f"capability `{capability.name}` grants `{trusted[0]}`, and its triggers bring it into {where}",
            at=config.place.child("triggers"),
            related={f"`{trusted[0]}` is granted here": capability.place.child("roles", "mcp", "server_refs")},
            help="remove its triggers, so that only agents that name it have it, or narrow its `domains`",
        )


def _high_trust_servers(build: Build) -> frozenset[str]:
    builtin = {server.name for server in build.resolved.servers if server.transport == BUILTIN}
    return HIGH_TRUST_SERVERS & builtin
