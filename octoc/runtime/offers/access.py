"""What an agent may use of its servers' resources and prompts. Nothing else exists for it, under any name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from octoc.aliases import ToolNames, make_aliases
from octoc.bundle.offers import AgentOffers, Offer
from octoc.names import ToolId
from octoc.runtime.offers.templates import is_of, matcher
from octoc.runtime.offers.values import Prompt, Resource, ResourceTemplate

if TYPE_CHECKING:
    from octoc.bundle.model import AgentEntry
    from octoc.results import ServerListing
    from octoc.runtime.loaded_bundle import LoadedBundle
    from octoc.runtime.offers.watches import SessionSubscriptions


Withheld = frozenset[tuple[str, str]]
"""Server and offer, as `resource file:///notes.md`."""


@attrs.frozen(kw_only=True)
class _Joined:
    """What a server without a snapshot listed when it was connected."""

    offers: tuple[Offer, ...]
    features: tuple[str, ...]


class BundleOffers:
    """The offers of one loaded bundle, with those of servers that were listed since."""

    def __init__(self, loaded: LoadedBundle) -> None:
        self._loaded = loaded
        self._joined: dict[str, _Joined] = {}
        self._access: dict[str, OfferAccess] = {}
        self._withheld: Withheld = frozenset()

    @cached_property
    def subscriptions(self) -> SessionSubscriptions:
        """The subscriptions of the bundle's sessions."""
        from octoc.runtime.offers.watches import ServerAccess, SessionSubscriptions

        loaded = self._loaded
        return SessionSubscriptions(ServerAccess(loaded.servers, loaded.pool, loaded.connector.secrets))

    def close(self) -> None:
        """End all subscriptions."""
        if "subscriptions" in self.__dict__:
            self.subscriptions.close()

    def join(self, server: str, listing: ServerListing) -> None:
        """Take the offers of a server without a snapshot."""
        offers = tuple(Offer(kind=one.kind, server=server, name=one.name, wire=one.wire) for one in listing.offers)
        joined = _Joined(offers=offers, features=listing.features)
        if self._joined.get(server, _Joined(offers=(), features=())) != joined:
            self._joined[server] = joined
            self._access = {}

    def withhold(self, server: str, names: Iterable[str]) -> None:
        """Withhold these offers of a server from every list, and no other of it; a request for one is still refused."""
        others = {one for one in self._withheld if one[0] != server}
        withheld = frozenset({*others, *((server, name) for name in names)})
        if withheld != self._withheld:
            self._withheld = withheld
            self._access = {}

    def of(self, agent: AgentEntry) -> OfferAccess:
        """Return what an agent may use, shared by its sessions. Raises: BundleFileError."""
        access = self._access.get(agent.name)
        if access is None or access.agent is not agent:
            access = self._access[agent.name] = self._made(agent)
        return access

    def _made(self, agent: AgentEntry) -> OfferAccess:
        recorded = self._loaded.opened.offers
        own = recorded.of(agent.name) if recorded else AgentOffers(whole=self._whole_unlisted(agent))
        offers = [recorded.offers[number] for number in own.offers]
        features = {server: recorded.features[server] for server in own.featured if server in recorded.features}
        for server in own.whole:
            joined = self._joined.get(server)
            if joined is not None:
                offers += joined.offers
                features[server] = joined.features
        order = {server: place for place, server in enumerate(self._loaded.servers)}
        offers.sort(key=lambda offer: order.get(offer.server, len(order)))  # stable: a server's own order stays
        style = self._loaded.bundle.settings.alias_style
        return OfferAccess(
            agent=agent,
            offers=tuple(offers),
            whole=own.whole,
            features=features,
            style=style,
            withheld=self._withheld,
        )

    def _whole_unlisted(self, agent: AgentEntry) -> tuple[str, ...]:
        registry = agent.registry
        excluded = {grant.server for grant in registry.excluded}
        grants = (*registry.unlisted, *registry.unlisted_direct)
        whole = {grant.server for grant in grants if "*" in grant.globs} - excluded
        return tuple(server for server in self._loaded.servers if server in whole)


@attrs.frozen(kw_only=True, eq=False, slots=False)
class OfferAccess:
    """An agent's offers in the order of servers. `whole` are servers of which it may also use what is not listed.

    No list has what is withheld; its names keep their meaning, so that a request for one says why it is refused.
    """

    agent: AgentEntry
    offers: tuple[Offer, ...]
    whole: tuple[str, ...]
    features: Mapping[str, tuple[str, ...]]
    style: Any
    withheld: Withheld = frozenset()

    @cached_property
    def resources(self) -> Mapping[str, Resource]:
        """The listed resources by URI; of several with one URI, that of the first server."""
        return {uri: one for uri, one in self._resources.items() if not self._is_withheld(one.server, "resource", uri)}

    @cached_property
    def _resources(self) -> Mapping[str, Resource]:
        found: dict[str, Resource] = {}
        for offer in self._of_kind("resource"):
            found.setdefault(offer.name, Resource(server=offer.server, wire=offer.wire))
        return found

    @cached_property
    def templates(self) -> tuple[ResourceTemplate, ...]:
        """The listed templates; of several with one URI template, that of the first server."""
        return tuple(one for one in self._templates if not self._is_withheld(one.server, "template", one.uri_template))

    @cached_property
    def _templates(self) -> tuple[ResourceTemplate, ...]:
        found: dict[str, ResourceTemplate] = {}
        for offer in self._of_kind("template"):
            found.setdefault(offer.name, ResourceTemplate(server=offer.server, wire=offer.wire))
        return tuple(found.values())

    @cached_property
    def prompts(self) -> Mapping[str, Prompt]:
        """The listed prompts by the name to ask for them, which is made as a tool's."""
        offers = self._of_kind("prompt")
        return {
            name: one
            for (name, one), offer in zip(self._prompts.items(), offers, strict=True)
            if not self._is_withheld(offer.server, "prompt", offer.name)
        }

    @cached_property
    def _prompts(self) -> Mapping[str, Prompt]:
        offers = self._of_kind("prompt")
        aliases = make_aliases((ToolId(offer.server, offer.name) for offer in offers), self.style)
        named = ((aliases[ToolId(offer.server, offer.name)], offer) for offer in offers)
        return {name: Prompt(server=offer.server, wire={**offer.wire, "name": name}) for name, offer in named}

    def prompt(self, name: str) -> tuple[str, str] | None:
        """Return the server and its own name of the prompt that `name` means; None if there is none, or several."""
        found = self._prompt_names.resolve(name)
        if not isinstance(found, int):
            return None
        offer = self._of_kind("prompt")[found]
        return offer.server, offer.name

    def server_of(self, uri: str) -> str | None:
        """Return the server that a resource is read from: by its listed URI, a template, or else its scheme.

        Only a server of which the agent may use everything is asked for a URI that it does not list.
        """
        listed = self._resources.get(uri)
        if listed is not None:
            return listed.server
        for template, compiled in self._compiled:
            if is_of(compiled, uri):
                return template.server
        scheme, colon, _ = uri.partition(":")
        with_scheme = (
            offer.server
            for offer in self.offers
            if offer.kind != "prompt" and offer.server in self.whole and offer.name.startswith(f"{scheme}:")
        )
        return next(with_scheme, None) if colon else None

    def _is_withheld(self, server: str, kind: str, name: str) -> bool:
        return (server, f"{kind} {name}") in self.withheld

    def _of_kind(self, kind: str) -> list[Offer]:
        return [offer for offer in self.offers if offer.kind == kind]

    @cached_property
    def _compiled(self) -> tuple[tuple[ResourceTemplate, Any], ...]:
        return tuple((template, matcher(template.uri_template)) for template in self._templates)

    @cached_property
    def _prompt_names(self) -> ToolNames:
        ids = [ToolId(offer.server, offer.name) for offer in self._of_kind("prompt")]
        return ToolNames((number, one, name) for number, (one, name) in enumerate(zip(ids, self._prompts, strict=True)))
