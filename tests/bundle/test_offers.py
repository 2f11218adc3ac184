"""The member with what servers offer beside tools: written only where there is something, read when it is used."""

from __future__ import annotations

import pytest

from octoc.bundle.model import AgentEntry, Bundle, ServerEntry, Settings
from octoc.bundle.offers import OFFERS, AgentOffers, Offer, Offers
from octoc.bundle.reader import OpenBundle
from octoc.bundle.refusal import BundleFileError
from octoc.bundle.writer import write_bundle

BLOBS = {"tools": b"", "texts": b""}
BUNDLE = Bundle(
    name="b",
    octoc_version="0",
    settings=Settings(),
    servers=(ServerEntry(name="docs", transport="stdio", command="x"),),
    agents=(AgentEntry(name="cfo", kind="octo"), AgentEntry(name="clerk", kind="octo")),
)
LISTED = Offers(
    offers=(
        Offer(kind="resource", server="docs", name="a://b", wire={"uri": "a://b", "name": "b"}),
        Offer(kind="prompt", server="docs", name="review", wire={"name": "review"}),
    ),
    features={"docs": ("completions",)},
    sets=(AgentOffers(offers=(0, 1), whole=("docs",), featured=("docs",)), AgentOffers(offers=(1,))),
    agents={"cfo": 0, "clerk": 1},
)


def test_offers_are_read_as_they_were_written() -> None:
    """An open bundle gives each agent its own part, and an unknown agent nothing."""
    opened = OpenBundle.of_bytes(write_bundle(BUNDLE, blobs=BLOBS, offers=LISTED))
    assert opened.offers == LISTED
    assert opened.offers.of("cfo").whole == ("docs",)
    assert opened.offers.of("clerk").offers == (1,)
    assert opened.offers.of("other") == AgentOffers()


@pytest.mark.parametrize("offers", [None, Offers()])
def test_a_bundle_without_offers_has_no_member(offers: Offers | None) -> None:
    """Nothing is written for servers that only have tools, and nothing is read."""
    data = write_bundle(BUNDLE, blobs=BLOBS, offers=offers)
    assert data == write_bundle(BUNDLE, blobs=BLOBS)
    opened = OpenBundle.of_bytes(data)
    assert OFFERS not in opened.digests
    assert opened.offers == Offers()


@pytest.mark.parametrize(
    "wrong, why",
    [
        (Offers(offers=LISTED.offers, sets=(AgentOffers(offers=(2,)),), agents={"cfo": 0}), "outside of the 2"),
        (Offers(offers=LISTED.offers, sets=LISTED.sets, agents={"cfo": 2}), "a set that is not there"),
    ],
)
def test_numbers_that_point_nowhere_are_refused(wrong: Offers, why: str) -> None:
    """A bundle whose offers are not there is refused when they are first used."""
    opened = OpenBundle.of_bytes(write_bundle(BUNDLE, blobs=BLOBS, offers=wrong))
    with pytest.raises(BundleFileError, match=why):
        _ = opened.offers
