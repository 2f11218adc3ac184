"""`assert_routes` as users' tests call it."""

from pathlib import Path

import pytest

from octoc.plugin.manager import plugins_of
from octoc.routing.fixtures import Fixtures, RoutingFixture, SearchFixture
from octoc.testing import WorkspaceBuilder, assert_routes

TIME = ["what time is it in Tokyo", "convert 5pm UTC to Berlin time", "the hour in Rome right now"]
MAIL = ["send an email to Ada", "read my inbox", "reply to the last mail"]
RIGHT = RoutingFixture(text="what time is it in Tokyo now", expect=("clock",))
WRONG = RoutingFixture(text="send an email to Ada please", expect=("clock",))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle without an encoder; one capability needs an unset variable."""
    builder = WorkspaceBuilder(tmp_path_factory.mktemp("routes"), plugins={"use": []})
    builder.server("time", "time-mcp", env={"KEY": "${OCTOC_TEST_UNSET_KEY}"}).snapshot("time", ["current_time"])
    builder.capability("clock", TIME, server="time").capability("mail", MAIL, server={"command": "mail-mcp"})
    built = builder.build(plugins_of()).bundle
    assert built is not None
    return built


def test_what_is_right_passes_whatever_is_set(bundle: Path) -> None:
    """Fixtures that come out right are returned as results, though a variable of their capability is not set."""
    results = assert_routes(bundle, [RIGHT, SearchFixture(query="current time", tools=("time/current_time",))])
    assert [outcome.got for outcome in results.messages] == [("clock",)]
    assert results.no_encoder


def test_what_is_wrong_is_listed(bundle: Path) -> None:
    """The assertion names each fixture that is not right, what was expected and what came, and no other."""
    with pytest.raises(AssertionError) as failed:
        assert_routes(bundle, Fixtures(messages=(RIGHT, WRONG), searches=(SearchFixture(query="current time"),)))
    text = str(failed.value)
    assert text.startswith("2 of 3 fixtures are not right (without an encoder: ")
    assert "'send an email to Ada please': expected clock, got mail (activated" in text
    assert "'current time': expected none, found time/current_time" in text
    assert RIGHT.text not in text


def test_an_expectation_is_written_as_in_a_file(bundle: Path) -> None:
    """One name, a list of names and `none` are what they are in TOML; an unknown name is an error."""
    assert_routes(bundle, [RoutingFixture(text=RIGHT.text, expect="clock"), RoutingFixture(text="hm", expect="none")])
    assert RoutingFixture(text="a", expect=["none"]).expect == ()
    with pytest.raises(LookupError, match="no capability `clok` in this bundle: did you mean `clock`"):
        assert_routes(bundle, [RoutingFixture(text=RIGHT.text, expect="clok")])
    with pytest.raises(LookupError, match="no tool `time/curent_time` in this bundle: did you mean"):
        assert_routes(bundle, [SearchFixture(query="current time", tools="time/curent_time")])


def test_a_file_of_fixtures(bundle: Path, tmp_path: Path) -> None:
    """A file is read and looked up in the bundle, and one with a mistake is refused with its place."""
    path = tmp_path / "mine.toml"
    path.write_text('[[message]]\ntext = "what time is it in Tokyo now"\nexpect = "clock"\n', encoding="utf-8")
    assert len(assert_routes(bundle, path).messages) == 1
    path.write_text('[[message]]\ntext = "what time is it"\nexpect = "clocks"\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"mine.toml:3: a message expects capability `clocks`"):
        assert_routes(bundle, path)
