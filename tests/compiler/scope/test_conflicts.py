"""Grants that contradict an area, groups that no agent has, names that match nothing: each with its places."""

from collections.abc import Callable
from typing import Any

import pytest

Compile = Callable[..., Any]

AREAS = """
[areas.finance]
agents = ["cfo", "finance-*"]

[areas.people]
agents = ["recruiter"]

[groups.ledger]
area = "finance"
tools = ["ledger/*"]

[[grants]]
agents = "cfo"
groups = ["ledger"]
"""


def places(found: Any) -> list[str]:
    """Return the place of a finding and those that belong to it."""
    return [f"{span.file}:{span.line}" for span in (found.span, *(label.span for label in found.related))]


@pytest.mark.parametrize("profile", ["deny", "allow"])
def test_an_areas_group_cannot_be_granted_outside_it(company: Compile, profile: str) -> None:
    """The error names the agent, the grant and the area, under both profiles, and the agent does not get the group."""
    made = company(AREAS + '[[grants]]\nagents = ["recruiter", "cfo"]\ngroups = ["ledger"]\n', profile=profile)
    (found,) = made.found("OCT364")
    assert found.message == "group `ledger` of area `finance` is granted to `recruiter`, which is not in it"
    assert places(found) == ["scopes/company.toml:17", "scopes/company.toml:9", "scopes/company.toml:2"]
    assert "ledger/pay" in made.tools("cfo")
    assert "ledger/pay" not in made.tools("recruiter")


def test_an_agents_group_cannot_be_granted_to_another(company: Compile) -> None:
    """A group with an `agent` is of exactly one."""
    made = company(
        '[groups.own]\nagent = "auditor"\ntools = ["mail/list"]\n[[grants]]\nagents = "cfo"\ngroups = ["own"]\n'
    )
    assert [one.message for one in made.found("OCT364")] == [
        "group `own` is of agent `auditor` alone, and granted to `cfo`"
    ]
    assert made.tools("cfo") == set()


@pytest.mark.parametrize(
    "given, what",
    [
        ('tools = ["ledger/pay"]', "tool `ledger/pay`"),
        ('tools = ["ledger/*"]', "tool `ledger/*`"),
        ('capabilities = ["books"]', "capability `books`"),
    ],
)
@pytest.mark.parametrize("profile", ["deny", "allow"])
def test_what_an_area_has_for_itself_cannot_be_granted_elsewhere(
    company: Compile, given: str, what: str, profile: str
) -> None:
    """Neither by a tool's name nor by a capability that brings it; the group that has it is shown."""
    made = company(AREAS + f'[[grants]]\nagents = "recruiter"\n{given}\n', profile=profile)
    (found,) = made.found("OCT365")
    assert found.message.startswith(f"{what} is granted to `recruiter`, and area `finance` has")
    assert places(found) == ["scopes/company.toml:17", "scopes/company.toml:8"]
    assert found.severity.name == "ERROR"
    assert not made.tools("recruiter") & {"ledger/read", "ledger/pay", "ledger/pay_all"}
    assert "books" not in made.capabilities("recruiter")


def test_a_capability_brings_what_is_left_of_it(company: Compile) -> None:
    """Where others have a part of a capability for themselves, the rest is granted, with a warning."""
    tables = (
        AREAS.replace('"ledger/*"', '"ledger/pay*"') + '[[grants]]\nagents = "recruiter"\ncapabilities = ["books"]\n'
    )
    made = company(tables)
    (found,) = made.found("OCT365")
    assert (found.severity.name, made.tools("recruiter")) == ("WARNING", {"ledger/read"})
    assert "`ledger/pay`, `ledger/pay_all` of it for itself" in found.message


def test_a_glob_of_an_unlisted_server_is_held_to_areas_too(company: Compile) -> None:
    """A granted glob that may match what an area has for itself gives nothing of that server."""
    tables = AREAS.replace('"ledger/*"', '"raw/pay*"')
    made = company(tables + '[[grants]]\nagents = "recruiter"\ntools = ["raw/*"]\n')
    assert [one.rule.code for one in made.found("OCT365")] == ["OCT365"]
    assert made.unlisted("recruiter") == set()
    made = company(tables + '[[grants]]\nagents = "recruiter"\ntools = ["raw/read*"]\n')
    assert (made.errors, made.unlisted("recruiter")) == ([], {"raw/read*"})


def test_a_group_that_nobody_is_granted_is_an_error(company: Compile) -> None:
    """Under `deny` always; under `allow` a global one, which does nothing, and not one of an area, which withholds."""
    tables = AREAS.partition("[[grants]]")[0]
    (found,) = company(tables).found("OCT366")
    assert places(found) == ["scopes/company.toml:8", "octoc.toml:5"]
    assert company(tables, profile="allow").errors == []
    assert company('[groups.docs]\ntools = ["docs/*"]\n', profile="allow").errors == ["OCT366"]


@pytest.mark.parametrize(
    "grant, says",
    [
        ('agents = "cfo"', "a grant gives nothing"),
        ("agents = []\ntools = ['docs/get']", "a grant has no agent"),
        ('agents = "cfo"\ngroups = ["off"]', "a grant gives nothing: group `off` is switched off"),
    ],
)
def test_a_grant_that_gives_nothing_is_an_error(company: Compile, grant: str, says: str) -> None:
    """A grant without receivers, without gifts, or with groups that are all switched off."""
    made = company(f'[groups.off]\nenabled = false\ntools = ["docs/get"]\n[[grants]]\n{grant}\n')
    assert [one.message for one in made.found("OCT367")] == [says]


def test_a_grant_that_is_switched_off_counts_for_nothing_and_is_no_error(company: Compile) -> None:
    """`enabled = false` takes what it gave, and the group that it names is not called ungranted."""
    tables = AREAS + "enabled = false\n"
    made = company(tables)
    assert (made.errors, made.tools("cfo")) == ([], set())


@pytest.mark.parametrize(
    "tables, code, says",
    [
        ('[[grants]]\nagents = "cfi"\ntools = ["docs/get"]', "OCT350", "did you mean `cfo`?"),
        ('[[grants]]\nagents = "hr-*"\ntools = ["docs/get"]', "OCT350", "matches none"),
        ('[[grants]]\nagents = "cfo"\ntools = ["docs/gte"]', "OCT321", "did you mean `docs/get`?"),
        ('[[grants]]\nagents = "cfo"\ntools = ["doc/get"]', "OCT301", "did you mean `docs`?"),
        ('[[grants]]\nagents = "cfo"\ntools = ["get"]', "OCT321", "write `docs/get`"),
        ('[[grants]]\nagents = "cfo"\ntools = ["raw/*_x"]', "OCT321", "only a `*` at the end"),
        ('[[grants]]\nagents = "cfo"\ngroups = ["ledgr"]', "OCT362", "add `[groups.ledgr]`"),
        ('[[grants]]\nagents = "cfo"\ncapabilities = ["book"]', "OCT304", "did you mean `books`?"),
        ('[[grants]]\nagents = "cfo"\nskills = ["x"]', "OCT307", "the workspace has no skill"),
        ('[areas.a]\ntenant = "acm"\n[tenants.acme]', "OCT362", "did you mean `acme`?"),
        ('[areas.a]\nagents = ["cfi"]', "OCT350", "did you mean `cfo`?"),
        ('[areas.a]\nagents = ["cfo"]\ndefault_agent = "cof"', "OCT350", "did you mean `cfo`?"),
        ('[areas.a]\nagents = ["cfo"]\ndefault_agent = "auditor"', "OCT371", "add it to `agents`"),
        ('[groups.g]\narea = "b"\ntools = ["docs/get"]\n[areas.bb]', "OCT362", "did you mean `bb`?"),
        ('[groups.g]\nagent = "cfi"\ntools = ["docs/get"]', "OCT350", "did you mean `cfo`?"),
        ('[groups.g]\nagent = "fin*"\ntools = ["docs/get"]', "OCT350", "name an area for several"),
        ("[overrides.cfi]\nenabled = true", "OCT350", "did you mean `cfo`?"),
        ('[[deny]]\nagents = "cfo"\ntools = "docs/gte"', "OCT321", "did you mean `docs/get`?"),
    ],
)
def test_a_name_that_means_nothing_is_an_error_with_a_next_step(
    company: Compile, tables: str, code: str, says: str
) -> None:
    """Every reference in every table is looked up, and what is near is offered."""
    made = company(tables + "\n")
    (found,) = made.found(code)
    assert says in f"{found.message} {found.help}"
    assert found.severity.name == "ERROR"
    assert found.span.file == "scopes/company.toml"
    assert found.span.line > 0
