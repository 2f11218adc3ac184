"""Which folder and which provider a capability's name means, and what it then grants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import attrs

from octoc.compiler.edits import renamed
from octoc.compiler.model.resolved import Capability, Server
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import CapabilitySource, Located, ProviderSource
from octoc.compiler.resolve.patterns import resolve_patterns
from octoc.compiler.resolve.servers import Servers
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import (
    NO_DEFAULT_PROVIDER,
    SHADOWED,
    UNKNOWN_CAPABILITY,
    UNKNOWN_PROVIDER,
    UNKNOWN_SERVER,
)
from octoc.diagnostics.suggest import did_you_mean


@attrs.frozen(kw_only=True)
class Chosen:
    """A capability's folder and its provider."""

    source: CapabilitySource
    provider: ProviderSource


def choose_providers(
    sources: Iterable[CapabilitySource], settings: WorkspaceSettings, sink: DiagnosticSink
) -> tuple[Chosen, ...]:
    """Return one choice a name, in the order of `sources`: the first folder that has the provider asked for wins.

    The provider is the workspace's for this name, else the one that `default.toml` is or names.
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
    for number, name in enumerate(settings.routing.pinned):
        if name not in folders:
            at = settings.place.child("routing", "pinned", number)
            sink.report(
                UNKNOWN_CAPABILITY,
                f"`pinned` names capability `{name}`, which no tap has",
                at=at,
                help=did_you_mean(name, folders),
                fix=renamed(at, name, folders.keys() - set(settings.routing.pinned)),
            )
    chosen: dict[str, Chosen] = {}
    for name, candidates in folders.items():
        wanted = settings.providers.get(name)
        found = [
            Chosen(source=source, provider=provider)
            for source in candidates
            if (provider := _provider(source, wanted)) is not None
        ]
        if not found:
            _report_missing(name, wanted, candidates, settings, sink)
            continue
        chosen[name] = found[0]
        for other in candidates:
            if other is not found[0].source:
                sink.report(
                    SHADOWED,
                    f"capability `{name}` of tap `{other.tap}` is shadowed by tap `{found[0].source.tap}`",
                    at=other.place,
                    related={"this one is used": found[0].source.place},
                )
    return tuple(chosen.values())


def resolve_capability(chosen: Chosen, servers: Servers, sink: DiagnosticSink) -> Capability:
    """Return the capability with its server references and patterns looked up."""
    source, provider = chosen.source, chosen.provider
    by_name = servers.by_name()
    own = {
        server.name: by_name[servers.name_at[server.place]]
        for server in provider.servers
        if server.place in servers.name_at
    }
    disabled = {server.name for server in provider.servers if server.place not in servers.name_at}
    for reference in provider.server_refs or ():
        name = reference.value
        if name in own or name in disabled:
            continue
        shared = by_name.get(name)
        if shared is not None and not shared.private:
            own[name] = shared
            continue
        sink.report(
            UNKNOWN_SERVER,
            f"server `{name}` is not defined",
            at=reference.place,
            label="nothing defines a server of this name",
            help=did_you_mean(name, [*own, *by_name]) or "add a `[[mcp.servers]]` of this name to the file",
            fix=renamed(reference.place, name, [*own, *by_name]),
        )
    grants = resolve_patterns(provider.allowed_tools, own, provider.place.child("roles", "mcp", "allowed_tools"), sink)
    config = source.config
    return Capability(
        name=source.name,
        tap=source.tap,
        provider=provider.name,
        place=provider.place,
        title=provider.title,
        description=provider.description,
        domains=tuple(domain.value for domain in config.domains) if config else (),
        triggers=config.triggers if config else (),
        grants=grants,
        requires_env=_required(own, [grant.server for grant in grants]),
        deps=tuple(dict.fromkeys(dep.value for dep in provider.deps)),
        closed=config is None and source.has_config,
    )


def known_capabilities(
    references: Sequence[Located[str]], capabilities: Mapping[str, Capability], what: str, sink: DiagnosticSink
) -> tuple[str, ...]:
    """Return the bare names that `references` mean, each once, in the order written; report those that mean nothing.

    A reference is a bare name, or `tap/name` to insist on one tap. A tap may itself be called `user/repo`, and Octomind
    pins by the part before the `/`.
    """
    names: list[str] = []
    for reference in references:
        prefix, _, bare = reference.value.rpartition("/")
        found = capabilities.get(bare)
        if found is None:
            sink.report(
                UNKNOWN_CAPABILITY,
                f"{what} asks for capability `{reference.value}`, which no tap has",
                at=reference.place,
                help=did_you_mean(bare, capabilities),
                fix=None if prefix else renamed(reference.place, bare, capabilities),
            )
        elif prefix and found.tap != prefix and not found.tap.startswith(f"{prefix}/"):
            sink.report(
                UNKNOWN_CAPABILITY,
                f"{what} asks for capability `{bare}` of tap `{prefix}`, but the one in use is of tap `{found.tap}`",
                at=reference.place,
                related={"the one in use": found.place},
                help=f"write `{bare}`, or put tap `{prefix}` first in octoc.toml",
            )
        else:
            names.append(bare)
    return tuple(dict.fromkeys(names))


def _provider(source: CapabilitySource, wanted: str | None) -> ProviderSource | None:
    # `default` is the file that the tap's link stands for, whether it is named or not.
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
    some = ", ".join(f"`{provider}`" for provider in have) or "none"
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
