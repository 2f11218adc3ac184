"""Registries that scopes narrow: what of a capability an agent has decides what is connected for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from octoc.bundle.model import Grant

if TYPE_CHECKING:
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
