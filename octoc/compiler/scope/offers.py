"""Which agents may use which resources, templates and prompts: by the laws of tools.

An agent that has all tools of a server has all of its offers; one with a list of `tools` has also those that its
`resources` and `prompts` name. The ceilings and denials of `CeilingScopes` then limit them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from octoc.bundle.model import Registry
from octoc.bundle.offers import AgentOffers, Offer, Offers
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Agent, Capability, Server, ServerGrant
from octoc.compiler.model.scopes import OfferId, Scopes
from octoc.compiler.resolve.patterns import EVERY
from octoc.compiler.resolve.scopes.offers import OfferLookup, ids_of, offer_entries, whole_of
from octoc.compiler.resolve.spelling import qualified
from octoc.compiler.scope.ceiling import CeilingScopes
from octoc.compiler.scope.exclusions import excluded_servers
from octoc.compiler.scope.fleet import Fleet
from octoc.compiler.scope.registry import Registries
from octoc.compiler.scope.tools import ToolSet
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import SAME_RESOURCE
from octoc.names import ToolId


@attrs.frozen(kw_only=True)
class AgentScopes:
    """What decides about an agent's offers: the fleet, the registries and the limits of scopes, if there are any."""

    fleet: Fleet
    made: Registries
    registries: Mapping[str, Registry]
    scopes: Scopes | None


def offers_of(build: Build, agents: AgentScopes, sink: DiagnosticSink) -> Offers:
    """Return the offers of all servers and what each agent may use; report a URI that an agent has of two servers."""
    servers = build.resolved.servers
    # Without any, the runtime derives from registries which agents have all of an unlisted server.
    if not any(server.offers or server.features for server in servers) and not _names_offers(agents.scopes):
        return Offers()
    ids = [one for server in servers for one in ids_of(server)]
    wholes = {whole_of(server): server.name for server in servers}
    index: dict[ToolId, int] = {one: number for number, one in enumerate([*ids, *wholes])}
    fleet = attrs.evolve(
        agents.fleet,
        index=index,
        capabilities={name: _with_offers(one, agents.fleet) for name, one in agents.fleet.capabilities.items()},
    )
    scopes = agents.scopes
    limits = None if scopes is None or _is_open(scopes) else CeilingScopes.of(scopes, fleet)
    lookup = OfferLookup(servers=fleet.servers, sink=sink)
    sets: dict[AgentOffers, int] = {}
    by_agent: dict[str, int] = {}
    sources = {agent.name: agent for agent in build.resolved.agents}
    for name, registry in agents.registries.items():
        agent = sources.get(name)
        if agent is None:
            continue
        numbers = frozenset(index[one] for one in _own(agent, registry, agents, lookup))
        if limits is not None:
            numbers = _limited(name, numbers, limits)
        own = _agent_offers(numbers, registry, build, ids, index, wholes)
        if own != AgentOffers():
            by_agent[name] = sets.setdefault(own, len(sets))
    if not by_agent:
        return Offers()
    _report_same(by_agent, list(sets), ids, fleet.servers, sink)
    offers = tuple(
        Offer(kind=offer.kind, server=server.name, name=offer.name, wire=offer.wire)
        for server in servers
        for offer in server.offers
    )
    features = {server.name: server.features for server in servers if server.features}
    return Offers(offers=offers, features=features, sets=tuple(sets), agents=by_agent)


def _names_offers(scopes: Scopes | None) -> bool:
    if scopes is None:
        return False
    groups, grants, deny = ([one.source for one in tables] for tables in (scopes.groups, scopes.grants, scopes.deny))
    return any(source.resources or source.prompts for source in (*groups, *grants, *deny))


def _is_open(scopes: Scopes) -> bool:
    return scopes.limits_nothing and not scopes.deny


def _limited(agent: str, numbers: frozenset[int], limits: CeilingScopes) -> frozenset[int]:
    left = ToolSet(numbers) & limits.ceiling(agent).tools
    for deny, denied in zip(limits.scopes.deny, limits.denied, strict=True):
        if agent in deny.agents:
            left = left.without(denied)
    return left.numbers


def _agent_offers(
    numbers: frozenset[int],
    registry: Registry,
    build: Build,
    ids: Sequence[OfferId],
    index: Mapping[ToolId, int],
    wholes: Mapping[OfferId, str],
) -> AgentOffers:
    withheld = {one.server for number, one in enumerate(ids) if number not in numbers}
    whole = tuple(name for one, name in wholes.items() if index[one] in numbers and name not in withheld)
    offers = tuple(sorted(number for number in numbers if number < len(ids)))
    used = {build.scoped.tools[number].id.server for number in registry.tools}
    used |= {ids[number].server for number in offers} | set(whole)
    featured = (server.name for server in build.resolved.servers if server.features and server.name in used)
    return AgentOffers(offers=offers, whole=whole, featured=tuple(featured))


def _with_offers(capability: Capability, fleet: Fleet) -> Capability:
    """Return a capability whose grants have the offers of whole servers instead of tools."""
    return attrs.evolve(
        capability,
        grants=tuple(
            attrs.evolve(grant, tools=tuple(_all_of([grant.server], fleet)) if _is_whole(grant) else ())
            for grant in capability.grants
        ),
    )


def _is_whole(grant: ServerGrant) -> bool:
    return "*" in grant.globs


def _all_of(names: Iterable[str], fleet: Fleet) -> Iterator[OfferId]:
    for name in names:
        yield from ids_of(fleet.servers[name])
        yield whole_of(fleet.servers[name])


def _own(agent: Agent, registry: Registry, agents: AgentScopes, lookup: OfferLookup) -> set[OfferId]:
    """Return the offers that the agent's type, file and capabilities give it."""
    source, fleet = agent.source, agents.fleet
    if source.kind == "octomind":
        named = [fleet.capabilities[name] for name in (*registry.boot, *registry.capabilities)]
        grants = [*agent.own_grants, *(grant for capability in named for grant in capability.grants)]
        return set(_all_of((grant.server for grant in grants if _is_whole(grant)), fleet))
    if source.type == "project":
        return set()
    visible = [grant.server for grant in agents.made.visible_grants(agent) if _is_whole(grant)]
    is_list = source.tools is not None and source.type != "supervisor"
    if is_list:
        visible = [name for name in visible if _names_whole(source.tools or (), name, fleet.servers)]
    excluded = excluded_servers(agent, fleet.servers)
    found = set(_all_of((name for name in visible if name not in excluded), fleet))
    for kind, entries in offer_entries(source):
        for entry in entries if is_list else ():
            reach = lookup.reach(entry, kind, f"agent `{agent.name}`", Severity.WARNING)
            found |= {one for one in reach if one.server not in excluded}
    return found


def _names_whole(entries: Iterable[Located[str]], server: str, servers: Mapping[str, Server]) -> bool:
    named = (qualified(entry.value, servers) for entry in entries if entry.value not in EVERY)
    return any(entry.value in EVERY for entry in entries) or (server, "*") in named


def _report_same(
    agents: Mapping[str, int],
    sets: Sequence[AgentOffers],
    ids: Sequence[OfferId],
    servers: Mapping[str, Server],
    sink: DiagnosticSink,
) -> None:
    """Report once each URI that some agent has of several servers; the first of them serves it."""
    first_agent = {number: agent for agent, number in reversed(list(agents.items()))}
    reported: set[tuple[str, ...]] = set()
    for number, own in enumerate(sets):
        by_uri: dict[str, list[str]] = {}
        for one in (ids[place] for place in own.offers):
            if one.kind == "resource":
                by_uri.setdefault(one.tool, []).append(one.server)
        for uri, names in by_uri.items():
            if len(names) < 2 or (uri, *names) in reported:
                continue
            reported.add((uri, *names))
            sink.report(
                SAME_RESOURCE,
                f"agent `{first_agent[number]}` has resource `{uri}` of {len(names)} servers, and reads that of "
                f"`{names[0]}`",
                at=servers[names[0]].place,
                related={f"also on `{name}`": servers[name].place for name in names[1:]},
                help=f'withhold it on the others, as by `[[deny]]` with `resources = ["{names[1]}/{uri}"]`',
            )
