"""Resources and prompts are granted, withheld and denied by the laws of tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from octoc.testing import WorkspaceBuilder

Compile = Callable[..., Any]

LISTS: dict[str, Any] = {
    "resources": [{"uri": uri, "name": uri} for uri in ("book://a", "book://b", "file:///c")],
    "resourceTemplates": [{"uriTemplate": "book://{name}", "name": "book"}],
    "prompts": [{"name": "review"}, {"name": "greet"}],
}
EVERYTHING = {"book://a", "book://b", "file:///c", "book://{name}", "review", "greet"}


def with_offers(builder: WorkspaceBuilder) -> None:
    """Give the server `docs` resources, a template and prompts."""
    builder.snapshot("docs", ["search", "get"], **LISTS)


def offers(made: Any, agent: str) -> set[str]:
    """The names of what an agent may use."""
    found = made.build.scoped.offers
    return {found.offers[number].name for number in found.of(agent).offers}


def compiled(company: Compile, text: str = "", profile: str = "deny", **given: Any) -> Any:
    """Compile tables over servers of which `docs` has offers."""
    return company(text, profile=profile, settings=with_offers, **given)


def test_without_a_scope_an_agent_has_all(company: Compile) -> None:
    """Under `allow` an agent without `tools` has every offer, and of its servers also what they do not list."""
    made = compiled(company, profile="allow")
    assert made.errors == []
    assert offers(made, "cfo") == EVERYTHING
    assert "docs" in made.build.scoped.offers.of("cfo").whole
    assert len(made.build.scoped.offers.sets) == 1


def test_under_deny_an_agent_has_what_is_granted(company: Compile) -> None:
    """Single resources and prompts can be granted, and a whole server brings them all."""
    text = """
        [groups.reading]
        tools = []
        resources = ["docs/book://a", "file:///*"]
        prompts = ["docs/review"]
        [[grants]]
        agents = "cfo"
        groups = ["reading"]
        [[grants]]
        agents = "auditor"
        tools = ["docs/*"]
        [[grants]]
        agents = "finance-clerk"
        prompts = ["mcp__docs__greet"]
    """
    made = compiled(company, text)
    assert made.errors == []
    assert offers(made, "cfo") == {"book://a", "file:///c", "review"}
    assert made.build.scoped.offers.of("cfo").whole == ()
    assert offers(made, "auditor") == EVERYTHING
    assert made.build.scoped.offers.of("auditor").whole == ("docs",)
    assert offers(made, "finance-clerk") == {"greet"}
    assert offers(made, "recruiter") == set()


def test_a_group_of_an_area_withholds_its_offers_and_the_templates_that_read_them(company: Compile) -> None:
    """An agent outside the area loses the resources, and each template by which it could read them."""
    text = """
        [areas.finance]
        agents = ["cfo"]
        [groups.books]
        area = "finance"
        resources = ["docs/book://a"]
        prompts = ["docs/review"]
    """
    made = compiled(company, text, profile="allow")
    assert made.errors == []
    assert offers(made, "cfo") == EVERYTHING
    assert offers(made, "recruiter") == {"book://b", "file:///c", "greet"}
    assert "docs" not in made.build.scoped.offers.of("recruiter").whole


@pytest.mark.parametrize(
    "denied, left",
    [
        ('resources = ["book://a"]', EVERYTHING - {"book://a", "book://{name}"}),
        ('resources = "docs/*"', {"review", "greet"}),
        ('resources = ["file:///*"]', EVERYTHING - {"file:///c"}),
        ('prompts = "docs/rev*"', EVERYTHING - {"review"}),
        ('tools = "docs/*"', set()),
    ],
)
def test_a_denial_takes_offers(company: Compile, denied: str, left: set[str]) -> None:
    """What `[[deny]]` names is gone for its agents alone, with the templates that could read it."""
    made = compiled(company, f'[[deny]]\nagents = "cfo"\n{denied}\n', profile="allow")
    assert offers(made, "cfo") == left
    assert offers(made, "auditor") == EVERYTHING


@pytest.mark.parametrize(
    "table, entry",
    [
        ('[[deny]]\nagents = "cfo"', 'resources = ["docs/book://z"]'),
        ('[[deny]]\nagents = "cfo"', 'prompts = ["docs/reviw"]'),
        ('[areas.people]\nagents = ["recruiter"]\n[groups.g]\narea = "people"', 'resources = ["docs/book://z"]'),
    ],
)
def test_a_misspelt_entry_takes_everything_that_its_server_offers(company: Compile, table: str, entry: str) -> None:
    """A mistake in what withholds is an error, and never leaves the agent what was meant."""
    made = compiled(company, f"{table}\n{entry}\n", profile="allow")
    assert [one.rule.code for one in made.diagnostics if one.severity.name == "ERROR"] == ["OCT778"]
    assert offers(made, "cfo") == set()
    assert offers(made, "recruiter") == EVERYTHING


def test_an_agent_with_a_list_of_tools_has_what_it_names(company: Compile) -> None:
    """`resources` and `prompts` of its file, and all of a server of which it lists every tool."""

    def with_agents(builder: WorkspaceBuilder) -> None:
        with_offers(builder)
        builder.agent("few", type="worker", tools=["docs/get"], resources=["docs/book://a"], prompts="docs/review")
        builder.agent("whole", type="worker", tools=["docs/*"])
        builder.agent("none", type="worker", tools=["docs/get"])
        builder.agent("without", type="worker", disallowedTools=["mcp__docs"])
        builder.agent("wrong", type="worker", tools=["docs/get"], resources=["docs/book://z"])

    made = company(profile="allow", settings=with_agents)
    assert offers(made, "few") == {"book://a", "review"}
    assert offers(made, "whole") == EVERYTHING
    assert offers(made, "none") == set()
    assert offers(made, "without") == set()
    assert offers(made, "wrong") == set()
    assert [one.severity.name for one in made.found("OCT778")] == ["WARNING"]


def test_a_uri_of_two_servers_is_reported_and_the_first_counts(company: Compile) -> None:
    """One warning names the servers; an agent that has it of one server alone is fine."""

    def twice(builder: WorkspaceBuilder) -> None:
        with_offers(builder)
        builder.snapshot("mail", ["send", "list"], resources=[{"uri": "book://a", "name": "a"}])

    made = company(profile="allow", settings=twice)
    (found,) = made.found("OCT779")
    assert "reads that of `docs`" in found.message
    made = company('[[deny]]\nagents = "*"\nresources = ["mail/book://a"]\n', profile="allow", settings=twice)
    assert made.found("OCT779") == []


def test_a_workspace_without_offers_has_none(company: Compile) -> None:
    """Nothing is made for servers that only have tools."""
    assert not company(profile="allow").build.scoped.offers


def test_a_server_may_have_offers_and_no_tools(company: Compile) -> None:
    """Agents and grants that name all of such a server are right, and get its resources."""

    def only_offers(builder: WorkspaceBuilder) -> None:
        builder.snapshot("docs", [], **LISTS)
        builder.agent("reader", type="worker", tools=["docs/*", "mail/send"])

    text = '[[grants]]\nagents = ["cfo", "reader"]\ntools = ["docs/*", "mail/send"]\n'
    made = company(text, settings=only_offers)
    assert [one.rule.code for one in made.diagnostics if one.severity.name in ("ERROR", "WARNING")] == []
    assert offers(made, "cfo") == EVERYTHING
    assert offers(made, "reader") == EVERYTHING
