"""What cannot be activated takes part in routing all the same, and the reason says which it is and what is missing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet


def test_who_is_held_is_told_with_what_is_missing(fleet: Fleet) -> None:
    """A capability that is active, granted or not ready is held, each for its own reason; the others are candidates."""
    from octoc.routing.decision import Reason
    from octoc.runtime.activation.route import candidates_of, held_of

    fleet.server("git", ["log"])
    fleet.server("web", ["fetch"])
    fleet.capability("git", fleet.grant("git"), triggers=["show the last commits"])
    fleet.capability("log", fleet.grant("git"), triggers=["show the log"])
    fleet.capability("web", fleet.grant("web"), triggers=["fetch that page"], requires_env=("KEY",))
    fleet.agent()

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            assert candidates_of(session.state, held_of(session.state)) == ("git", "log")
            await session.activate("git")
            assert candidates_of(session.state, held_of(session.state)) == ("log",)
            assert held_of(session.state) == {
                "git": (Reason.ALREADY_ACTIVE, "`git` is active"),
                "web": (Reason.NOT_READY, "`web` needs `KEY` to be set"),
            }

    asyncio.run(run())


def test_a_session_remembers_the_users_last_messages(fleet: Fleet) -> None:
    """Routing alone remembers nothing; `on_user_message` does, as many turns as are looked at."""
    fleet.agent()

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            session.route("first of all, this")
            for text in ("one", "two", "three", "four"):
                await session.on_user_message(text)
            assert tuple(session.state.turns) == ("two", "three", "four")

    asyncio.run(run())
