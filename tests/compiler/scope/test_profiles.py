"""What each agent has under `deny` and under `allow`."""

from collections.abc import Callable
from typing import Any

import pytest

Compile = Callable[..., Any]

FINANCE = """
[areas.finance]
agents = ["cfo", "finance-*"]

[groups.ledger]
area = "finance"
tools = ["ledger/*", "raw/pay*"]
"""
GRANTED = """
[[grants]]
agents = "cfo"
groups = ["ledger"]
"""
ALL = {"ledger/read", "ledger/pay", "ledger/pay_all", "docs/search", "docs/get", "mail/send", "mail/list"}
LEDGER = {"ledger/read", "ledger/pay", "ledger/pay_all"}
SQL = {"sql-server/query"}


def test_without_scopes_every_agent_has_what_it_had(company: Compile) -> None:
    """A workspace without a word on scopes has the registries of before, confined to nothing."""
    made = company(profile=None)
    assert made.tools("recruiter") == ALL | SQL
    assert not any(registry.confined for registry in made.build.scoped.registries.values())
    assert made.errors == []


def test_deny_gives_nothing_that_is_not_granted(company: Compile) -> None:
    """Under `deny` an agent without a grant has no tool, no capability and nothing of an unlisted server."""
    made = company()
    for agent in ("cfo", "recruiter", "supervisor"):
        assert (made.tools(agent), made.unlisted(agent), made.capabilities(agent)) == (set(), set(), set())


def test_deny_gives_what_a_group_has_to_whom_it_is_granted(company: Compile) -> None:
    """A granted group brings its recorded tools, and its globs of unlisted servers."""
    made = company(FINANCE + GRANTED)
    assert made.errors == []
    assert (made.tools("cfo"), made.unlisted("cfo")) == (LEDGER, {"raw/pay*"})
    assert made.tools("finance-clerk") == made.tools("recruiter") == set()


def test_a_capability_is_there_only_if_it_is_granted_by_name(company: Compile) -> None:
    """A granted capability brings all its tools; tools that are granted alone bring no capability."""
    made = company("""
[[grants]]
agents = "cfo"
capabilities = ["sql"]
tools = ["ledger/read"]
""")
    assert made.capabilities("cfo") == {"sql"}
    assert made.tools("cfo") == {"ledger/read", *SQL}


def test_an_agents_own_group_needs_no_grant(company: Compile) -> None:
    """Under both profiles only a group's own `agent` has its tools."""
    tables = '[groups.own]\nagent = "auditor"\ntools = ["mail/list"]\n'
    for profile in ("deny", "allow"):
        made = company(tables, profile=profile)
        assert "mail/list" in made.tools("auditor")
        assert "mail/list" not in made.tools("cfo") | made.tools("supervisor")
        assert made.errors == []


def test_allow_withholds_an_areas_tools_from_all_others(company: Compile) -> None:
    """Under `allow` a group of an area is in effect without a grant, and all agents have everything else."""
    made = company(FINANCE, profile="allow")
    assert made.errors == []
    assert made.tools("cfo") == made.tools("finance-clerk") == ALL | SQL
    assert made.tools("recruiter") == made.tools("supervisor") == (ALL | SQL) - LEDGER


def test_a_capability_of_which_nothing_is_left_does_not_exist(company: Compile) -> None:
    """`books` has tools of the ledger alone, so outside the area there is no such capability."""
    made = company(FINANCE, profile="allow")
    assert made.capabilities("cfo") == {"books", "sql"}
    assert made.capabilities("recruiter") == {"sql"}


def test_an_unlisted_server_is_left_out_as_a_whole_where_a_part_is_withheld(company: Compile) -> None:
    """Globs only widen: who may not have `raw/pay*` has nothing of `raw`, unless a group of their own names a part."""
    made = company(FINANCE, profile="allow")
    assert (made.unlisted("cfo"), made.unlisted("recruiter")) == ({"raw/*"}, set())
    shared = (
        '[groups.rest]\ntools = ["raw/read*", "raw/pay_slip"]\n[[grants]]\nagents = "recruiter"\ngroups = ["rest"]\n'
    )
    made = company(FINANCE + shared, profile="allow")
    assert made.unlisted("recruiter") == {"raw/read*", "raw/pay_slip"}


def test_a_tool_that_is_also_in_a_global_group_is_everybodys(company: Compile) -> None:
    """Under `allow` a global group takes a tool out of an area's hands."""
    made = company(FINANCE + '[groups.open]\ntools = ["ledger/read"]\n', profile="allow")
    assert made.errors == []
    assert made.tools("recruiter") & LEDGER == {"ledger/read"}


def test_a_shared_agent_is_in_both_areas(company: Compile) -> None:
    """An agent that an area shares has that area's groups, too; its home stands first."""
    tables = FINANCE + '\n[areas.people]\nagents = ["recruiter"]\nshared = ["cfo"]\n'
    made = company(tables, profile="allow")
    assert made.errors == []
    assert made.build.resolved.scopes.members["cfo"].areas == ("finance", "people")


def test_switching_a_group_off_widens_nothing(company: Compile) -> None:
    """A group with `enabled = false` withholds its tools from all agents, its own area's included."""
    made = company(FINANCE.replace("[groups.ledger]", "[groups.ledger]\nenabled = false"), profile="allow")
    assert made.tools("cfo") == made.tools("recruiter") == (ALL | SQL) - LEDGER


def test_skills_exist_only_when_granted(company: Compile) -> None:
    """Under `deny` an agent has the skills that a grant names; under `allow` all that it had."""

    def with_skills(builder: Any) -> None:
        builder.skill("closing").skill("hiring")

    grant = '[[grants]]\nagents = "cfo"\nskills = ["closing"]\n'
    made = company(grant, settings=with_skills)
    assert made.build.scoped.registries["cfo"].skills == ("closing",)
    assert made.build.scoped.registries["recruiter"].skills == ()
    assert company(grant, profile="allow", settings=with_skills).build.scoped.registries["cfo"].skills == (
        "closing",
        "hiring",
    )


def test_a_manifests_boot_capability_is_held_to_its_grants(company: Compile) -> None:
    """A boot capability that is not granted is absent, and the finding has both places."""

    def with_manifest(builder: Any) -> None:
        builder.octomind_agent("developer", "general", capabilities=["books", "sql"])

    made = company('[[grants]]\nagents = "developer:*"\ncapabilities = ["sql"]\n', settings=with_manifest)
    assert made.build.scoped.registries["developer:general"].boot == ("sql",)
    assert made.tools("developer:general") == SQL
    (told,) = made.found("OCT368")
    assert (told.span.file, [label.span.file for label in told.related]) == (
        "taps/local/agents/developer/general.toml",
        ["scopes/company.toml", "octoc.toml"],
    )


def test_what_an_agents_own_tools_name_is_held_to_its_grants(company: Compile) -> None:
    """`tools` of an AGENT.md gives the granted tools it names; each entry that is not granted is reported."""

    def with_tools(builder: Any) -> None:
        builder.agent("cfo", tools=["ledger/read", "mail/send", "Read"])

    made = company('[[grants]]\nagents = "cfo"\ntools = ["ledger/*"]\n', settings=with_tools)
    assert made.tools("cfo") == {"ledger/read"}
    assert made.build.scoped.registries["cfo"].host_tools == ("Read",)
    assert [one.message for one in made.found("OCT368")] == [
        "agent `cfo` asks for tool `mail/send`, which is not granted to it"
    ]


def test_reasons_say_every_way_to_a_tool(company: Compile) -> None:
    """A tool that a group and a capability bring has both as its reasons, each with its place."""
    made = company(FINANCE + GRANTED + 'capabilities = ["books"]\n')
    number = next(n for n, tool in enumerate(made.build.scoped.tools) if str(tool.id) == "ledger/pay")
    ways = made.build.scoped.reasons["cfo"][number]
    assert [(way.kind, way.name, way.via.kind, way.via.name) for way in ways] == [
        ("grant", "ledger", "group", "ledger"),
        ("grant", "books", "capability", "books"),
    ]
    assert {way.place.file for way in ways} == {"scopes/company.toml"}


def test_tables_may_stand_in_octoc_toml_and_in_files(company: Compile) -> None:
    """Areas of octoc.toml and groups of a file are one set of tables."""

    def with_area(builder: Any) -> None:
        builder.settings("areas", finance={"agents": ["cfo"]})

    tables = FINANCE.partition("[groups")[1] + FINANCE.partition("[groups")[2] + GRANTED
    made = company(tables, settings=with_area)
    assert made.errors == []
    assert made.tools("cfo") == LEDGER


@pytest.mark.parametrize(
    "written, expected", [({}, ("closing",)), ({"skills": []}, ()), ({"skills": ["closing"]}, ("closing",))]
)
def test_an_empty_list_of_skills_is_none(
    company: Compile, written: dict[str, list[str]], expected: tuple[str, ...]
) -> None:
    """An agent without `skills` has those of its domain, and one with `skills: []` has none."""

    def with_skill(builder: Any) -> None:
        builder.skill("closing")
        builder.agent("helper", **written)

    made = company(profile=None, settings=with_skill)
    assert made.build.scoped.registries["helper"].skills == expected
