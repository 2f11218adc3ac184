"""Servers whose tools a client cannot tell apart by name."""

from collections.abc import Callable
from typing import Any

import pytest

Lint = Callable[..., Any]
RUN = {"command": "x"}


@pytest.mark.parametrize(
    "names, marked, says",
    [
        (["a", "a__b"], ['"a__b"'], "tool `a__b__…` reads as a tool of `a`"),
        (["a__b__c", "a__b"], ['"a__b__c"'], "tool `a__b__c__…` reads as a tool of `a__b`"),
        (["my-notes", "my_notes"], ['"my_notes"'], "differ only in case or in `-` and `_`"),
        (["Notes", "notes"], ['"notes"'], "differ only in case or in `-` and `_`"),
        (["my_notes", "my.notes"], ['"my.notes"'], "both are written `my_notes`"),
    ],
)
def test_names_that_collide(lint: Lint, names: list[str], marked: list[str], says: str) -> None:
    """The server whose name is mistaken for the other's is marked, in any order."""
    linted = lint(servers=dict.fromkeys(names, RUN))
    assert [text for _, text in linted.shown("OCT764")] == marked
    assert says in linted.of("OCT764")[0].message


@pytest.mark.parametrize("names", [["a", "a_b", "a-c", "ab"], ["a__b", "c"], ["a", "__a"]])
def test_names_that_do_not(lint: Lint, names: list[str]) -> None:
    """One separator, and a name with two underscores by itself, are not findings."""
    assert lint(servers=dict.fromkeys(names, RUN)).of("OCT764") == []


def test_a_disabled_server_collides_with_none(lint: Lint) -> None:
    """A disabled server has no tools."""
    assert lint(servers={"a": {**RUN, "disabled": True}, "a__b": RUN}).of("OCT764") == []
