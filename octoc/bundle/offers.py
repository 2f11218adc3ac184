"""What servers offer beside their tools, and which agents may use it: a member that is read when it is first used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from octoc.bundle.refusal import BundleError
from octoc.results import OfferKind

OFFERS = "offers.json"
"""The member; a bundle whose servers offer only tools has none."""


@attrs.frozen(kw_only=True)
class Offer:
    """A resource, resource template or prompt: `name` is its URI, URI template or name; `wire` is as it was listed."""

    kind: OfferKind
    server: str
    name: str
    wire: Mapping[str, Any]


@attrs.frozen(kw_only=True)
class AgentOffers:
    """What some agents may use.

    Args:
        offers: indexes of `Offers.offers`, ascending.
        whole: the servers of which they may use everything, also what is not listed, in the order of servers.
        featured: the servers with tools or offers for these agents that support any of `Offers.features`.
    """

    offers: tuple[int, ...] = ()
    whole: tuple[str, ...] = ()
    featured: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Offers:
    """All offers, in the order of servers and then in each server's own, and by agent the index of its set.

    `features` are what servers support beside lists, as `ServerListing.features`, by server.
    """

    offers: tuple[Offer, ...] = ()
    features: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    sets: tuple[AgentOffers, ...] = ()
    agents: Mapping[str, int] = attrs.field(factory=dict)

    def of(self, agent: str) -> AgentOffers:
        """Return what an agent may use."""
        number = self.agents.get(agent)
        return AgentOffers() if number is None else self.sets[number]

    def check(self) -> None:
        """Refuse numbers outside of the lists. Raises: BundleError."""
        if any(not 0 <= number < len(self.sets) for number in self.agents.values()):
            raise BundleError("an agent has a set that is not there", ("agents",))
        if any(not 0 <= number < len(self.offers) for one in self.sets for number in one.offers):
            raise BundleError(f"a set has an offer outside of the {len(self.offers)}", ("sets",))

    def __bool__(self) -> bool:
        return bool(self.agents)
