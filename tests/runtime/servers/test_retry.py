"""What is repeated, and how long it takes until it is."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import Grant, ServerEntry, Settings, ToolPolicy
from octoc.results import FailureKind, ToolFailure, ToolResult
from octoc.runtime.servers.retry import is_harmless, may_repeat, pause_before, reconnect_pause
from octoc.runtime.tools.policy import arguments_mode, limit_of, retry_mode

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet, Server


def _failure(kind: FailureKind, *, sent: bool = True, **fields: Any) -> ToolFailure:
    return ToolFailure(kind=kind, message="m", text="t", sent=sent, **fields)


@pytest.mark.parametrize(
    "mode, kind, sent, harmless, repeats",
    [
        ("safe", "connect_failed", False, False, True),
        ("safe", "connection_lost", True, False, False),
        ("safe", "connection_lost", True, True, True),
        ("safe", "connection_lost", False, False, True),
        ("always", "connection_lost", True, False, True),
        ("never", "connect_failed", False, True, False),
        ("always", "not_found", True, True, False),
        ("always", "too_large", True, True, False),
        ("always", "unauthorized", False, True, False),
        ("always", "not_ready", False, True, False),
    ],
)
def test_what_may_be_repeated(mode: str, kind: FailureKind, sent: bool, harmless: bool, repeats: bool) -> None:
    """Only what failed in transport: unsent, harmless by a trusted word, or because the workspace says always."""
    assert may_repeat(_failure(kind, sent=sent), mode, harmless=harmless) is repeats


def test_the_first_policy_that_matches_counts() -> None:
    """A tool's own time limit and mode stand before its server's; what it leaves open is the server's."""
    policies = (
        ToolPolicy(glob="read_*", timeout_s=2, arguments="off"),
        ToolPolicy(glob="*", timeout_s=9, retry="never"),
    )
    entry = ServerEntry(name="s", transport="stdio", timeout_s=30, retry="always", tools=policies)
    assert (limit_of(entry, "read_file"), retry_mode(entry, "read_file")) == (2, "always")
    assert (limit_of(entry, "write"), retry_mode(entry, "write")) == (9, "never")
    assert limit_of(attrs.evolve(entry, tools=()), "write") == 30
    assert [arguments_mode(Settings(), entry, tool) for tool in ("read_file", "write")] == ["off", "error"]


@pytest.mark.parametrize(
    "annotations, harmless",
    [({"readOnlyHint": True}, True), ({"idempotentHint": True}, True), ({"readOnlyHint": "yes"}, False), (None, False)],
)
def test_only_true_is_a_hint(annotations: Any, harmless: bool) -> None:
    """A hint is the boolean and nothing that looks like it."""
    assert is_harmless({"name": "x", "annotations": annotations}) is harmless


def test_pauses_grow_and_are_bounded() -> None:
    """A server is tried again at once, then after 0.5, 1, 2 … 30 s; a call's own pause is at least what was asked."""
    assert [reconnect_pause(failures) for failures in (0, 1, 2, 3, 4, 9, 1000)] == [0, 0, 0.5, 1, 2, 30, 30]
    assert 0.05 <= pause_before(1, _failure("connect_failed")) <= 0.15
    assert pause_before(1, _failure("unavailable", retry_after_s=7)) == 7


def _dying(server: Server, deaths: int) -> None:
    """Let the server's tool die with its connection so many times before it answers."""
    left = [deaths]

    async def die(arguments: Mapping[str, Any]) -> ToolResult | ToolFailure:
        if left[0] > 0:
            left[0] -= 1
            server.connections[-1].alive = False
            return _failure("connection_lost")
        return ToolResult.of_text("done")

    server.tools["work"] = die


def _outcome(fleet: Fleet, **fields: Any) -> tuple[Server, ToolResult | ToolFailure]:
    hints: dict[str, Any] = fields.pop("hints", {})
    server = fleet.server("s", ["work"], listed=False, **fields)
    server.extra["work"] = {"annotations": hints}
    _dying(server, 1)
    fleet.agent(proxy=True, unlisted=(Grant(server="s", globs=("*",)),))

    async def run() -> ToolResult | ToolFailure:
        async with fleet.open() as runtime:
            return await runtime.session().call("s__work")

    return server, asyncio.run(run())


def test_a_call_that_died_is_not_sent_twice(fleet: Fleet) -> None:
    """A call whose connection died is not repeated, since the server may have carried it out."""
    server, outcome = _outcome(fleet)
    assert isinstance(outcome, ToolFailure)
    assert (outcome.kind, len(server.calls)) == ("connection_lost", 1)


def test_a_harmless_call_of_a_trusted_server_is_sent_again(fleet: Fleet) -> None:
    """What a trusted server calls read-only is repeated on a new connection."""
    server, outcome = _outcome(fleet, trusted=True, hints={"readOnlyHint": True})
    assert (outcome.text, len(server.calls), server.connects) == ("done", 2, 2)


def test_the_word_of_a_server_that_is_not_trusted_counts_nothing(fleet: Fleet) -> None:
    """A hint alone repeats nothing."""
    server, outcome = _outcome(fleet, hints={"readOnlyHint": True})
    assert (outcome.ok, len(server.calls)) == (False, 1)


def test_the_workspace_may_say_always(fleet: Fleet) -> None:
    """With `retry = "always"` whatever failed in transport is repeated."""
    server, outcome = _outcome(fleet, policies=(ToolPolicy(glob="w*", retry="always"),))
    assert (outcome.text, len(server.calls)) == ("done", 2)


def test_repeats_are_bounded(fleet: Fleet) -> None:
    """A server that never comes up is tried three times for one call, and the call ends within its limit."""
    server = fleet.server("s", ["work"])
    server.broken = "the command exited with status 1"
    fleet.agent(proxy=True)

    async def run() -> ToolResult | ToolFailure:
        async with fleet.open() as runtime:
            return await runtime.session().call("s__work")

    outcome = asyncio.run(run())
    assert (outcome.ok, server.connects) == (False, 3)


def test_what_cannot_get_better_is_tried_once(fleet: Fleet) -> None:
    """A permanent failure to connect is answered at once, and the next call tries again without a pause."""
    server = fleet.server("s", ["work"])
    server.broken, server.permanent = "no such command", True
    fleet.agent(proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            for connects in (1, 2):
                outcome = await session.call("s__work")
                assert isinstance(outcome, ToolFailure)
                assert (outcome.kind, outcome.message, server.connects) == (
                    "connect_failed",
                    "no such command",
                    connects,
                )

    asyncio.run(run())
