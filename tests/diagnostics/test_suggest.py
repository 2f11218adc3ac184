"""Near names are hints; octoc may fix a slip without asking."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.diagnostics.suggest import did_you_mean, near_miss, near_names, slip_of_key, typo_of

NAMES = st.text(alphabet="abcd12-_", min_size=1, max_size=8)


@pytest.mark.parametrize(
    "name, known, meant",
    [
        ("evn", ["env", "args"], "env"),
        ("convert-time", ["convert_time", "get_time"], "convert_time"),
        ("Commands", ["command"], "command"),
        ("git_lgo", ["git_log", "git_diff"], "git_log"),
        ("list_fil", ["list_file", "list_fill"], None),
        ("set_user", ["get_user"], None),
        ("read_v1", ["read_v2", "read_v10"], None),
        ("get", ["get_time"], None),
        ("ab", ["abc"], None),
        ("time", ["time"], None),
        ("time", [], None),
    ],
)
def test_what_is_a_slip(name: str, known: list[str], meant: str | None) -> None:
    """Case, separators, a letter too many or too few, two swapped; nothing that could be another name."""
    assert typo_of(name, known) == meant


@given(NAMES, st.lists(NAMES, max_size=6))
def test_a_slip_is_a_known_name_and_near(name: str, known: list[str]) -> None:
    """It is one of the known names, another than the name itself, and has the same digits in the same order."""
    meant = typo_of(name, known)
    if meant is not None:
        assert meant in known
        assert meant != name
        assert [c for c in meant if c.isdigit()] == [c for c in name if c.isdigit()]


def test_hints_are_ranked() -> None:
    """The nearest is named first, at most three, and nothing when nothing is near."""
    assert near_names("postgres", ["database-postgres", "postgre", "sqlite"]) == ("postgre", "database-postgres")
    assert did_you_mean("postgres", ["postgre", "sqlite"]) == "did you mean `postgre`?"
    assert did_you_mean("postgres", ["sqlite"]) is None


@given(st.text(alphabet="abcD12-_", max_size=8), st.sets(NAMES, max_size=9), st.integers(1, 4))
def test_a_name_that_is_passed_over_was_not_near(name: str, known: set[str], limit: int) -> None:
    """A search over many names returns the same names as comparing each alone."""
    alone = {one for one in known if near_names(name, [one])}
    near = near_names(name, known, limit)
    assert near == near_names(name, alone, len(known) or 1)[:limit]
    assert len(near) == min(limit, len(alone))


@pytest.mark.parametrize(
    "name, known, meant",
    [
        ("allowed-tools", ["disallowedTools", "tools"], ("tools",)),
        ("disallowed-tools", ["allowed-tools", "disallowedTools"], ("disallowedTools",)),
        ("disalowedTools", ["allowedTools", "disallowedTools"], ("disallowedTools",)),
        ("tool", ["disallowedTools"], ()),
        ("includeTools", ["excludeTools"], ()),
        ("enabled_tools", ["disabled_tools"], ()),
        ("exludeTools", ["excludeTools", "includeTools"], ("excludeTools",)),
        ("name", ["display_name"], ("display_name",)),
    ],
)
def test_no_hint_turns_an_allow_list_into_a_deny_list(name: str, known: list[str], meant: tuple[str, ...]) -> None:
    """A name of the opposite meaning is not near, in either direction."""
    assert near_names(name, known) == meant


@pytest.mark.parametrize(
    "name, known, meant",
    [
        ("Graep", ["Grep", "Glob"], "Grep"),
        ("Wrote", ["Write", "Read"], "Write"),
        ("raed", ["Read"], "Read"),
        ("todos", ["todo"], None),
        ("todo", ["todos"], None),
        ("Exit", ["Edit", "Emit"], None),
        ("Bask", ["Task"], None),
        ("List", ["LS", "CronList"], None),
        ("bash", ["bash"], None),
    ],
)
def test_what_is_a_near_miss(name: str, known: list[str], meant: str | None) -> None:
    """One letter more, less, other or swapped; a plural or another first letter makes another name."""
    assert near_miss(name, known) == meant
    assert near_miss("BASH", ["bash"], ignores_case=True) is None


KEYS = ["command", "args", "env", "type", "url", "include_tools", "exclude_tools", "alwaysLoad", "headers"]


@pytest.mark.parametrize(
    "key, present, meant",
    [
        ("comand", [], "did you mean `command`?"),
        ("arg", [], "did you mean `args`?"),
        ("haeders", [], "did you mean `headers`?"),
        ("commands", ["command"], None),
        ("allowedCommands", [], None),
        ("alwaysAllow", [], None),
        ("serverUrl", [], None),
        ("includedTools", ["command"], "did you mean `include_tools`?"),
    ],
)
def test_only_a_slip_of_a_missing_key_has_a_hint(key: str, present: list[str], meant: str | None) -> None:
    """A key that contains another, is there already, or says the opposite is not proposed."""
    assert slip_of_key(key, KEYS, present) == meant
