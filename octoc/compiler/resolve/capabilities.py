"""Choose the folder and the provider of each capability, and look up what it grants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import attrs

from octoc.compiler.fixes.edits import renamed
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability, Server
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import CapabilitySource, ProviderSource
from octoc.compiler.resolve.patterns import resolve_patterns
from octoc.compiler.resolve.servers import Servers
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import (
    ADDITION_WITHOUT_EFFECT,
    NO_DEFAULT_PROVIDER,
    SHADOWED,
    UNKNOWN_CAPABILITY,
    UNKNOWN_PROVIDER,
    UNKNOWN_SERVER,
)
from octoc.diagnostics.suggest import did_you_mean
from octoc.lists import name_list
from octoc.names import BUILTIN

HIGH_TRUST_SERVERS = frozenset({"runtime", "agent", "orchestration"})
"""Builtin servers of Octomind that change which tools may be called, run other agents or defer messages.

`core` is not one of them: its one tool keeps a plan, and every agent of the public tap has it.
"""


@attrs.frozen(kw_only=True)
class ChosenProvider:
    """A capability's folder and its provider.

    `additions` are the folders of other taps that have a `config.toml` and no provider: they add triggers.
    """

    source: CapabilitySource
    provider: ProviderSource
    additions: tuple[CapabilitySource, ...] = ()


def choose_providers(
    sources: Iterable[CapabilitySource], settings: WorkspaceSettings, sink: DiagnosticSink
) -> dict[str, tuple[ChosenProvider, ...]]:
    """Return capability name -> the folders with the requested provider, in the order of `sources`: the first one wins.

    The workspace requests a provider by `[providers]`; otherwise it is the one that `default.toml` is or names.
    """
    folders: dict[str, list[CapabilitySource]] = {}
    for source in sources:
        folders.setdefault(source.name, []).append(source)
    for name in settings.providers:
        if name not in folders:
            sink.report(
                UNKNOWN_CAPABILITY,
                f"`[providers]` chooses for capability `{name}`, which no tap has",
                at=settings.place.child("providers", name).key(),
                help=did_you_mean(name, folders),
                fix=renamed(settings.place.child("providers", name).key(), name, folders.keys() - settings.providers),
            )
    routing = settings.routing
    for key, names in (("keep", routing.keep), ("allow_high_trust", routing.allow_high_trust)):
        for number, name in enumerate(names):
            if name not in folders:
                at = settings.place_of("routing", key).child(number)
                sink.report(
                    UNKNOWN_CAPABILITY,
                    f"`{key}` names capability `{name}`, which no tap has",
                    at=at,
                    help=did_you_mean(name, folders),
                    fix=renamed(at, name, folders.keys() - set(names)),
                )
    chosen: dict[str, tuple[ChosenProvider, ...]] = {}
    for name, candidates in folders.items():
        wanted = settings.providers.get(name)
        additions = tuple(source for source in candidates if source.adds_triggers)
        found = [
            ChosenProvider(source=source, provider=provider)
            for source in candidates
            if (provider := _provider(source, wanted)) is not None
        ]
        if found:
            chosen[name] = (attrs.evolve(found[0], additions=additions), *found[1:])
            _check_additions(chosen[name][0], sink)
        else:
            _report_missing(name, wanted, candidates, settings, sink)
    return chosen


def report_shadowed(
    sources: Iterable[CapabilitySource],
    used: Iterable[ChosenProvider],
    winners: Mapping[str, ChosenProvider],
    sink: DiagnosticSink,
) -> None:
    """Report the folders that no agent can use because an earlier tap has one of the same name."""
    seen = {(choice.source.tap, choice.source.name) for choice in used}
    for source in sources:
        winner = winners.get(source.name)
        if winner is None or source.adds_triggers or (source.tap, source.name) in seen:
            continue
        sink.report(
            SHADOWED,
            f"capability `{source.name}` of tap `{source.tap}` is shadowed by tap `{winner.source.tap}`",
            at=source.place,
            related={"this one is used": winner.source.place},
        )


def _check_additions(chosen: ChosenProvider, sink: DiagnosticSink) -> None:
    """Report keys without effect in a `config.toml` that has no provider beside it."""
    for addition in chosen.additions:
        config = addition.config
        if config is None:
            continue
        where = f"capability `{addition.name}` of tap `{chosen.source.tap}`"
        if chosen.source.config is None:
            sink.report(
                ADDITION_WITHOUT_EFFECT,
                f"these triggers are for {where}, which has no sound `config.toml` of its own",
                at=config.place.child("triggers"),
                related={"its provider": chosen.provider.place},
                help="copy the provider file beside them, and the capability is this tap's own",
            )
        elif config.domains:
            sink.report(
                ADDITION_WITHOUT_EFFECT,
                f"`domains` has no effect here: this file only adds triggers to {where}",
                at=config.place.child("domains"),
                related={"these count": chosen.source.config.place},
                help="delete it, or copy the provider file beside it",
            )


def resolve_capability(
    chosen: ChosenProvider, name: str, servers: Servers, allowed: Collection[str], sink: DiagnosticSink
) -> Capability:
    """Return the capability with its server references and patterns looked up.

    Args:
        name: its name in the bundle. A capability that only agents of its own tap have is `<tap>/<name>`, and no
            message activates it.
        allowed: the capabilities of `[routing] allow_high_trust`.
    """
    source, provider = chosen.source, chosen.provider
    by_name = servers.by_name
    own = {
        server.name: by_name[servers.name_at[server.place]]
        for server in provider.servers
        if server.place in servers.name_at
    }
    disabled = {server.name for server in provider.servers if server.place not in servers.name_at}
    for reference in provider.server_refs or ():
        if reference.value in own or reference.value in disabled:
            continue
        shared = by_name.get(reference.value)
        if shared is not None and not shared.private:
            own[reference.value] = shared
            continue
        sink.report(
            UNKNOWN_SERVER,
            f"server `{reference.value}` is not defined",
            at=reference.place,
            label="nothing defines a server of this name",
            help=did_you_mean(reference.value, [*own, *by_name]) or "add a `[[mcp.servers]]` of this name to the file",
            fix=renamed(reference.place, reference.value, [*own, *by_name]),
        )
    grants = resolve_patterns(provider.allowed_tools, own, provider.place.child("roles", "mcp", "allowed_tools"), sink)
    config = source.config
    builtin = {written: server.name for written, server in own.items() if server.transport == BUILTIN}
    trusted = {builtin[written] for written in HIGH_TRUST_SERVERS & builtin.keys()}
    return Capability(
        name=name,
        tap=source.tap,
        provider=provider.name,
        place=provider.place,
        title=provider.title,
        description=provider.description,
        domains=tuple(domain.value for domain in config.domains) if config else (),
        triggers=_triggers(chosen) if name == source.name else (),
        grants=grants,
        requires_env=_required(own, [grant.server for grant in grants]),
        deps=tuple(dict.fromkeys(dep.value for dep in provider.deps)),
        closed=config is None and source.has_config,
        servers_left_out=bool(provider.servers or provider.server_refs) and not grants,
        reserved=source.name not in allowed
        and (not source.has_config or not trusted.isdisjoint(grant.server for grant in grants)),
    )


def _triggers(chosen: ChosenProvider) -> tuple[Located[str], ...]:
    """Return the capability's own triggers, then those that other taps add, without repeated texts."""
    if chosen.source.config is None:
        return ()
    triggers = list(chosen.source.config.triggers)
    texts = {trigger.value for trigger in triggers}
    for addition in chosen.additions:
        for trigger in addition.config.triggers if addition.config is not None else ():
            if trigger.value not in texts:
                texts.add(trigger.value)
                triggers.append(trigger)
    return tuple(triggers)


def _provider(source: CapabilitySource, wanted: str | None) -> ProviderSource | None:
    # `default` means the file that the tap's link points to.
    if wanted not in {None, "default"}:
        return source.providers.get(wanted)
    name = source.default.provider if source.default is not None else "default"
    return source.providers.get(name)


def _report_missing(
    name: str,
    wanted: str | None,
    candidates: Sequence[CapabilitySource],
    settings: WorkspaceSettings,
    sink: DiagnosticSink,
) -> None:
    have = sorted({provider for source in candidates for provider in source.providers})
    some = name_list(have) or "none"
    if wanted is not None:
        sink.report(
            UNKNOWN_PROVIDER,
            f"capability `{name}` has no provider `{wanted}`; it is left out",
            at=settings.place.child("providers", name),
            help=did_you_mean(wanted, have) or f"its providers are: {some}",
            fix=renamed(settings.place.child("providers", name), wanted, have),
        )
    else:
        sink.report(
            NO_DEFAULT_PROVIDER,
            f"capability `{name}` has no default provider; it is left out",
            at=candidates[0].place,
            help=f"its providers are: {some}; choose one in `[providers]`",
        )


def _required(servers: Mapping[str, Server], granted: Sequence[str]) -> tuple[str, ...]:
    wanted = set(granted)
    return tuple(sorted({n for server in servers.values() if server.name in wanted for n in server.requires_env}))
