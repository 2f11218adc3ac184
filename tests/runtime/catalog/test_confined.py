"""Registries that scopes narrow: what of a capability an agent has decides what is connected for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from octoc.bundle.model import Grant

if TYPE_CHECKING:
    from octoc.runtime.session import Session
    from tests.runtime.conftest import Fleet


@pytest.mark.parametrize("mine, connects", [("report_pdf", 1), ("report_*", 1), ("send", 0), ("report", 0), ("*", 1)])
def test_only_a_server_of_which_something_is_left_is_connected(fleet: Fleet, mine: str, connects: int) -> None:
    """An unlisted server is not connected for a capability whose globs have nothing in common with the registry's."""
    fleet.server("own", ["x"])
    fleet.server("raw", ["report_pdf", "send"], listed=False)
    fleet.capability("reports", fleet.grant("own"), Grant(server="raw", globs=("report_*",)))
    fleet.agent(unlisted=(Grant(server="raw", globs=(mine,)),), proxy=True, confined=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            answer = await session.activate("reports")
            assert session.capabilities == ("reports",)
            assert ("raw" in answer) == bool(connects)

    asyncio.run(run())
    assert fleet.servers["raw"].connects == connects


@pytest.mark.parametrize("by", ["the agent", "the server"])
@pytest.mark.parametrize("tools, is_left", [(["send"], False), (["send", "read"], True)])
def test_a_capability_of_excluded_tools_alone_is_gone_once_its_server_is_listed(
    fleet: Fleet, by: str, tools: list[str], is_left: bool
) -> None:
    """Without a snapshot it is named until the server has listed its tools; then it is unknown, as one out of reach."""
    fleet.server("raw", tools, listed=False, exclude=("send",) if by == "the server" else ())
    fleet.capability("mail", Grant(server="raw", globs=("*",)), triggers=["send a mail"])
    fleet.server("own", ["x"])
    fleet.capability("other", fleet.grant("own"))
    excluded = (Grant(server="raw", globs=("send",)),) if by == "the agent" else ()
    fleet.agent(unlisted=(Grant(server="raw", globs=("*",)),), proxy=True, confined=bool(excluded), excluded=excluded)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            assert "- mail" in await listed(session)
            answer = await session.activate("mail")
            assert session.capabilities == (("mail",) if is_left else ())
            assert ("mail" in await listed(session)) == is_left
            if not is_left:
                assert answer == (await session.activate("none")).replace("none", "mail")
                assert "mail" not in await listed(runtime.session())
                assert runtime.state.references.is_needed("raw") is False

    asyncio.run(run())


async def listed(session: Session) -> str:
    """Return what the model reads of the capabilities that it may enable."""
    return (await session.call("capability", {"action": "list"})).text
