"""The law of rotated credentials: on a server that tenants share, each call works as soon as the new one is known."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from octoc.bundle.model import Settings
from octoc.plugin.manager import Plugins
from octoc.results import ToolResult
from octoc.runtime import Runtime
from octoc.testing import Era, faulty_http

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet

EXAMPLES = int(os.environ.get("OCTOC_FLEETS", "4"))
TENANTS = ("acme", "umbrella", "initech")
Round = tuple[str, Sequence[int]]
"""What is rotated before (`both`, the server's token alone, or nothing), and the tenants that call side by side."""


def hold(fleet: Fleet, folder: Path, era: Era, rounds: Sequence[Round]) -> None:
    """Assert the law for rounds of calls of several tenants."""
    env = {"TOKEN": "token-number-0-of-all"}
    tokens, canaries = [env["TOKEN"]], list[str]()

    async def body() -> None:
        async with faulty_http(era) as server:
            server.token = tokens[0]
            kind = era if era in {"sse", "rest"} else "http"
            headers = {"Authorization": "Bearer ${TOKEN}"}
            fleet.server("s", ["echo"], transport=kind, url=server.url, timeout_s=60.0, headers=headers)
            fleet.settings = Settings(breaker_failures=0)
            fleet.agent(proxy=True)
            plugins = Plugins(["transport-mcp", "transport-rest"], [], env)
            async with Runtime.open(fleet.write(), plugins=plugins, workspace=folder) as runtime:
                sessions = [runtime.session(tenant=tenant) for tenant in TENANTS]
                async with runtime.state.current.pool.use("s"):
                    pass
                for rotated, callers in rounds:
                    if rotated != "nothing":
                        server.token = f"token-number-{len(tokens)}-of-all"
                        tokens.append(server.token)
                    if rotated == "both":
                        env["TOKEN"] = server.token
                    words = [f"canary{len(canaries) + number}x" for number in range(len(callers))]
                    canaries.extend(words)
                    outcomes = await asyncio.gather(
                        *(
                            sessions[who].call("s__echo", {"text": word})
                            for who, word in zip(callers, words, strict=True)
                        )
                    )
                    for word, outcome in zip(words, outcomes, strict=True):
                        told = outcome.text if isinstance(outcome, ToolResult) else f"{outcome.message}{outcome.text}"
                        assert outcome.ok == (env["TOKEN"] == server.token), told
                        assert (word in told) or not outcome.ok
                        assert not [one for one in (*tokens, *canaries) if one in told and one != word], told

    asyncio.run(body())


ROTATED: Sequence[Round] = (
    ("nothing", (0, 1)),
    ("both", (0, 1, 2)),
    ("both", (1,)),
    ("server", (0, 1)),
    ("both", (2, 0)),
)


@settings(max_examples=EXAMPLES)
@example(era="legacy", rounds=ROTATED)
@example(era="modern", rounds=ROTATED)
@given(
    era=st.sampled_from(get_args(Era)),
    rounds=st.lists(
        st.tuples(
            st.sampled_from(("nothing", "both", "both", "server")),
            st.lists(st.integers(0, len(TENANTS) - 1), min_size=1, max_size=4),
        ),
        min_size=2,
        max_size=5,
    ),
)
def test_a_rotated_credential_fails_no_tenants_call(
    new_fleet: Callable[[], Fleet], tmp_path: Path, era: Era, rounds: Sequence[Round]
) -> None:
    """Calls side by side after a 401 all work with the new one; without it each fails, with no word of another's."""
    hold(new_fleet(), tmp_path, era, rounds)


async def _no_other(_: object, used: object, *__: object) -> object:
    return used


def test_without_another_look_a_rotated_credential_fails_calls(
    new_fleet: Callable[[], Fleet], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The law hangs on resolving credentials again."""
    monkeypatch.setattr("octoc_transport_mcp.auth.RenewedHeaders.other", _no_other)
    with pytest.raises(AssertionError):
        hold(new_fleet(), tmp_path, "modern", ROTATED)
