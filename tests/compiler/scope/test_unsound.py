"""A mistake in a table of scopes never widens anything."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Compile = Callable[..., Any]

OVERRIDE = "[overrides.auditor]\nenabled = true\n"
SOUND = '[areas.finance]\nagents = ["cfo"]\n[groups.ledger]\narea = "finance"\ntools = ["ledger/*"]\n'


@pytest.mark.parametrize(
    "text",
    [
        SOUND.replace("area =", "aera ="),
        SOUND.replace("tools =", "toolz ="),
        SOUND.replace('["ledger/*"]', '"ledger/*"'),
        SOUND + 'agent = "cfo"\n',
        SOUND + "[[deny]]\nagents = 'cfo'\n",
        SOUND + "[scopes]\nprofile = 'allow'\n",
        SOUND + "broken",
        SOUND + "[groups.ledger]\n",
        SOUND + "[overrides.cfo]\nenabled = 'no'\n",
        "areas = 3\n",
    ],
)
def test_while_a_table_cannot_be_read_nobody_has_anything(company: Compile, text: str) -> None:
    """Whatever is wrong in a file of scopes, there is an error at its place, and no agent is in the bundle."""
    made = company(text, profile="allow")
    assert made.errors
    assert made.build.scoped.registries == {}
    assert [one.rule.name for one in made.found("OCT372")] == ["unread-scopes"]


def test_the_same_holds_for_tables_of_octoc_toml(company: Compile) -> None:
    """A group of octoc.toml with a misspelt key is not read as one without that key."""

    def with_group(builder: Any) -> None:
        builder.settings("groups", ledger={"aera": "finance", "tools": ["ledger/*"]})

    made = company(profile="allow", settings=with_group)
    assert (made.errors, made.build.scoped.registries) == (["OCT201"], {})


def test_a_file_of_scopes_that_is_asked_for_and_not_there_counts_as_unread(company: Compile) -> None:
    """A pattern that matches no file is an error, and what the file would have withheld is not known."""

    def elsewhere(builder: Any) -> None:
        builder.settings("scopes", paths=["scopez/*.toml"])

    made = company(SOUND, profile="allow", settings=elsewhere)
    assert (made.errors, made.build.scoped.registries) == (["OCT121"], {})


def test_a_link_that_leads_nowhere_counts_as_unread(company: Compile, tmp_path: Path) -> None:
    """A broken link in the folder of scopes stops the build of registries, as an unreadable file does."""
    (tmp_path / "scopes").mkdir()
    (tmp_path / "scopes/people.toml").symlink_to(tmp_path / "gone.toml")
    made = company(SOUND, profile="allow")
    assert (made.errors, made.build.scoped.registries) == (["OCT122"], {})


@pytest.mark.parametrize("scopes", ['profile = "denny"', "profil = 'deny'\nprofile = 3"])
def test_a_misspelt_profile_is_the_stricter_one(company: Compile, scopes: str, tmp_path: Path) -> None:
    """Who misspells `deny` does not get `allow`."""
    del tmp_path
    import tomllib

    made = company(profile=None, settings=lambda builder: builder.settings("scopes", **tomllib.loads(scopes)))
    assert made.errors
    assert made.tools("cfo") == set()


def test_what_two_files_define_under_one_name_is_an_error_with_both_places(company: Compile) -> None:
    """The second group withholds and gives nothing; agents of the second area are left out."""
    second = (
        "scopes/people.toml",
        '[areas.finance]\nagents = ["recruiter"]\n[groups.ledger]\ntools = ["docs/*"]\n' + OVERRIDE,
    )
    made = company(SOUND + OVERRIDE, profile="allow", files=[second])
    assert [one.message for one in made.found("OCT361")] == [
        "area `finance` is there twice",
        "group `ledger` is there twice",
        "override `auditor` is there twice",
    ]
    assert {one.related[0].span.file for one in made.found("OCT361")} == {"scopes/company.toml"}
    assert {"recruiter", "auditor"} & set(made.build.scoped.registries) == set()
    assert not any(tool.startswith("docs/") for tool in made.tools("cfo"))


def test_a_tool_that_is_misspelt_in_an_areas_group_withholds_its_server(company: Compile) -> None:
    """Under `allow` no other agent has tools of the server; the area's agents have the tools that the group names."""
    made = company(SOUND.replace('"ledger/*"', '"ledger/read", "ledger/pai"'), profile="allow")
    assert made.errors == ["OCT321"]
    assert not any(tool.startswith("ledger/") for tool in made.tools("recruiter"))
    assert "ledger/pay" in made.tools("cfo")


@pytest.mark.parametrize(
    "text",
    [
        SOUND.replace('"ledger/*"', '"legder/*"'),
        SOUND.replace('["cfo"]', '["cfi"]\ntenant = "acme"') + "[tenants.acme]\n",
        SOUND + "[overrides.cfi]\nenabled = false\n",
    ],
)
def test_who_or_what_is_withheld_and_not_known_leaves_nobody_in(company: Compile, text: str) -> None:
    """A misspelt server of an area's group, agent of a tenant, or agent that is switched off: no agent is there."""
    made = company(text, profile="allow")
    assert made.errors
    assert made.build.scoped.registries == {}
    assert made.found("OCT372")


def test_tools_of_a_disabled_server_are_no_mistake(company: Compile) -> None:
    """A server that is switched off for a while changes nothing in the tables."""

    def off(builder: Any) -> None:
        builder.server("treasury", "treasury-mcp", disabled=True)

    made = company(SOUND.replace('"ledger/*"', '"ledger/*", "treasury/*"'), profile="allow", settings=off)
    assert made.errors == []
    assert "docs/get" in made.tools("recruiter")


def test_the_tools_of_a_group_of_an_unknown_area_are_withheld(company: Compile) -> None:
    """The group's tools are withheld from all agents."""
    made = company(SOUND.replace('"finance"', '"finanze"'), profile="allow")
    assert made.errors == ["OCT362"]
    assert not made.tools("cfo") & {"ledger/read", "ledger/pay"}
