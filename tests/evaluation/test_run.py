"""Fixtures in sessions of a real runtime."""

import asyncio
from pathlib import Path

import pytest

from octoc.evaluation import Results, Verdict, open_for_tests, run_fixtures
from octoc.plugin.manager import plugins_of
from octoc.routing.fixtures import Fixtures, RoutingFixture, SearchFixture
from octoc.runtime.values import UnknownNameError
from octoc.testing import WorkspaceBuilder

TIME = ["what time is it in Tokyo", "convert 5pm UTC to Berlin time", "the hour in Rome right now"]
MAIL = ["send an email to Ada", "read my inbox", "reply to the last mail"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle without an encoder: `clock` needs a variable, and the agent `office:clerk` has `mail` from the start."""
    builder = WorkspaceBuilder(tmp_path_factory.mktemp("run"), plugins={"use": []})
    builder.server("time", "no-such-program", env={"KEY": "${OCTOC_TEST_UNSET_KEY}"}).snapshot("time", ["current_time"])
    builder.capability("clock", TIME, server="time").capability("mail", MAIL, server={"command": "no-such-program"})
    built = builder.octomind_agent("office", "clerk", capabilities=["mail"]).build(plugins_of()).bundle
    assert built is not None
    return built


def ran(bundle: Path, *messages: RoutingFixture, searches: tuple[SearchFixture, ...] = ()) -> Results:
    """Run fixtures in a runtime of their own."""

    async def run() -> Results:
        async with open_for_tests(bundle, plugins=plugins_of()) as runtime:
            return run_fixtures(runtime, Fixtures(messages=messages, searches=searches))

    return asyncio.run(run())


def test_nothing_is_started_and_nothing_need_be_set(bundle: Path) -> None:
    """A capability whose server cannot start and whose variable is not set still wins its message."""
    (outcome,) = ran(bundle, RoutingFixture(text="what time is it in Tokyo now", expect=("clock",))).messages
    assert (outcome.got, outcome.verdict, outcome.reason.partition(",")[0]) == (("clock",), Verdict.RIGHT, "activated")
    assert outcome.scores[0][0] == "clock"


def test_fixtures_do_not_hear_each_other(bundle: Path) -> None:
    """Each message has a conversation of its own: the same outcome alone and behind others."""
    one = RoutingFixture(text="and what of Oslo", expect=("clock",))
    other = RoutingFixture(text="what time is it in Tokyo now", expect=("clock",))
    assert ran(bundle, one).messages[0] == ran(bundle, other, one).messages[1]


def test_what_an_agent_has_from_the_start_counts_where_it_is_expected(bundle: Path) -> None:
    """A boot capability that wins is right where it is expected, and nothing is activated where none is."""
    expecting = RoutingFixture(text="send an email to Ada please", expect=("mail",), agent="office:clerk")
    quiet = RoutingFixture(text="send an email to Ada please", agent="office:clerk")
    assert [outcome.got for outcome in ran(bundle, expecting, quiet).messages] == [("mail",), ()]


def test_a_query_finds_what_its_agent_may_find(bundle: Path) -> None:
    """A query is searched for as the agent: what is out of its scope is not found."""
    results = ran(bundle, searches=(SearchFixture(query="current time", tools=("time/current_time",)),
                                    SearchFixture(query="current time", agent="office:clerk")))  # fmt: skip
    assert [outcome.verdict for outcome in results.queries] == [Verdict.RIGHT, Verdict.RIGHT]


def test_an_agent_that_is_not_there_is_the_callers_mistake(bundle: Path) -> None:
    """A fixture for an unknown agent raises, with near names."""
    with pytest.raises(UnknownNameError, match="office:clerk"):
        ran(bundle, RoutingFixture(text="what time is it in Tokyo now", agent="office:clark"))


def test_what_exceeds_the_active_tokens_is_not_activated(tmp_path: Path) -> None:
    """A capability whose tools exceed `max_active_tokens` wins its message, which counts as routed to none."""
    builder = WorkspaceBuilder(tmp_path / "small", plugins={"use": []}, routing={"max_active_tokens": 3})
    builder.server("time", "no-such-program").snapshot("time", ["current_time"])
    builder.capability("clock", TIME, server="time").capability("mail", MAIL, server={"command": "no-such-program"})
    built = builder.build(plugins_of()).bundle
    assert built is not None
    text = "what time is it in Tokyo now"
    (outcome,) = ran(built, RoutingFixture(text=text, expect=("clock",))).messages
    assert (outcome.got, outcome.reason.partition(":")[0]) == ((), "no-room")
    assert "max_active_tokens" in outcome.reason

    async def live() -> tuple[str | None, str | None]:
        async with open_for_tests(built, plugins=plugins_of()) as runtime:
            session = runtime.session()
            return session.route(text).capability, (await session.on_user_message(text)).capability

    assert asyncio.run(live()) == (None, None)
