"""What is kept of clients is bounded in number and time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from octoc_serve.states import FullError, Key, MemoryStates


class Kept:
    """Counts how often it was ended."""

    def __init__(self) -> None:
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


def test_states_are_bounded_and_end_when_idle() -> None:
    """One more than may be is refused; what is idle and not in use ends, once, and makes room."""
    now = 0.0
    states = MemoryStates(2, 10.0, lambda: now)
    made: list[Any] = []

    def make() -> Any:
        made.append(Kept())
        return made[-1]

    first, second, third = (Key(agent="a", session=name) for name in "123")
    assert states.get(first, make) is states.get(first, make)
    states.get(second, make)
    with pytest.raises(FullError, match="2 clients"):
        states.get(third, make)
    now = 10.0
    with states.using(first):
        asyncio.run(states.sweep())
        assert [one.closed for one in made] == [0, 1]
        states.get(third, make)
    now = 15.0
    asyncio.run(states.sweep())
    assert [one.closed for one in made] == [0, 1, 0]
    now = 20.0
    asyncio.run(states.sweep())
    assert [one.closed for one in made] == [1, 1, 1]
    assert states.all() == ()


def test_the_same_session_of_another_token_is_another_client() -> None:
    """A state is a token's, an agent's and a tenant's own, whatever MCP session is named."""
    states = MemoryStates(9, None)
    keys = [
        Key(agent="a", session="s"),
        Key(agent="b", session="s"),
        Key(agent="a", session="s", token="t"),
        Key(agent="a", session="s", token="t", tenant="x"),
    ]
    made: list[Any] = [states.get(key, Kept) for key in keys]  # type: ignore[arg-type]  # all that is asked of it is to end
    assert len(set(map(id, made))) == 4
    asyncio.run(states.end(lambda key: key.token == "t"))
    assert [one.closed for one in made] == [0, 0, 1, 1]
