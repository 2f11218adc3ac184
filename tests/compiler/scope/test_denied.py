"""`[[deny]]`: each agent that reaches a denied tool is an error, with the chain of grants that leads to it."""

from collections.abc import Callable
from typing import Any

import pytest

Compile = Callable[..., Any]

DENY = '\n[[deny]]\nagents = ["recruiter"]\ntools = "ledger/*"\nreason = "payroll is not theirs"\n'


def way(made: Any) -> str:
    """Return the way that the one broken denial shows."""
    (found,) = made.found("OCT369")
    assert found.severity.name == "ERROR"
    return str(found.notes[0]).removeprefix("the way: ")


def test_a_denial_that_holds_says_nothing(company: Compile) -> None:
    """An agent that does not reach the denied tools has no finding."""
    assert company(DENY).errors == []


def test_a_denial_is_broken_by_a_grant_of_a_group(company: Compile) -> None:
    """The chain goes from the agent by the grant and the group to the tool, each with its place."""
    made = company('[groups.all]\ntools = ["ledger/*"]\n[[grants]]\nagents = "r*"\ngroups = ["all"]\n' + DENY)
    at = "(scopes/company.toml)"
    assert way(made) == f"agent `recruiter` <- grant `all` {at} <- group `all` {at} <- tool `ledger/read`"
    (found,) = made.found("OCT369")
    assert found.message == "agent `recruiter` reaches `ledger/read` and 2 more, which is denied: payroll is not theirs"
    assert [label.span.line for label in found.related] == [5, 1]
    assert made.tools("recruiter") == set()


def test_a_denial_is_broken_by_a_capability(company: Compile) -> None:
    """A tool that a granted capability brings is found, and the capability goes with its last tool."""
    made = company('[[grants]]\nagents = "recruiter"\ncapabilities = ["books"]\n' + DENY)
    assert "grant `books`" in way(made)
    assert "capability `books` (taps/local/capabilities/books/default.toml)" in way(made)
    assert made.capabilities("recruiter") == set()


def test_a_denial_is_broken_by_the_profile(company: Compile) -> None:
    """Under `allow` what nothing withholds is reached by the profile itself."""
    made = company(DENY, profile="allow")
    assert way(made) == "agent `recruiter` <- profile `allow` (octoc.toml) <- tool `ledger/read`"
    assert "ledger/pay" not in made.tools("recruiter")
    assert "ledger/pay" in made.tools("cfo")


def test_a_denial_is_broken_by_an_area(company: Compile) -> None:
    """An area that an agent is in gives it the area's groups under `allow`."""
    tables = '[areas.a]\nagents = ["recruiter"]\n[groups.g]\narea = "a"\ntools = ["ledger/pay"]\n'
    made = company(tables + DENY.replace("ledger/*", "ledger/pay"), profile="allow")
    assert "area `a`" in way(made)
    assert "group `g`" in way(made)


@pytest.mark.parametrize("profile", ["allow", "deny"])
def test_a_glob_of_an_unlisted_server_is_denied(company: Compile, profile: str) -> None:
    """What a denial may match of a server that is not listed is left out, and is an error."""
    grant = '[[grants]]\nagents = "recruiter"\ntools = ["raw/*"]\n'
    made = company(grant + DENY.replace("ledger/*", "raw/pay"), profile=profile)
    assert made.found("OCT369")
    assert made.unlisted("recruiter") == set()
