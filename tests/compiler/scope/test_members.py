"""Areas, tenants and overrides: who is where, who is left out, and whose settings count."""

from collections.abc import Callable
from typing import Any

import pytest

from octoc.bundle.model import AgentSettings
from octoc.bundle.organisation import Quota

Compile = Callable[..., Any]


def member(made: Any, agent: str) -> Any:
    """Return where an agent is."""
    return made.build.resolved.scopes.members.get(agent)


def test_an_agent_cannot_live_in_two_areas(company: Compile) -> None:
    """The error has both places and no other finding; the agent is left out, since its area is unclear."""
    made = company('[areas.a]\nagents = ["cfo"]\n[areas.b]\nagents = ["c*"]\ndefault_agent = "cfo"\n')
    assert made.errors == ["OCT363"]
    (found,) = made.found("OCT363")
    assert found.message == "agent `cfo` lives in area `a` and in area `b`; it is left out"
    assert [found.span.line, found.related[0].span.line] == [4, 2]
    assert "cfo" not in made.build.scoped.registries


def test_shared_makes_a_second_area_meant(company: Compile) -> None:
    """With `shared` the area that only lists the agent is its home."""
    made = company('[areas.a]\nagents = ["c*"]\nshared = ["cfo"]\n[areas.b]\nagents = ["cfo"]\n')
    assert made.errors == []
    assert member(made, "cfo").areas == ("b", "a")


def test_an_agent_of_switched_off_areas_is_left_out(company: Compile) -> None:
    """Information says so; an agent that is in another area, too, stays there."""
    made = company('[areas.a]\nenabled = false\nagents = ["cfo", "auditor"]\n[areas.b]\nshared = ["auditor"]\n')
    assert "cfo" not in made.build.scoped.registries
    assert member(made, "auditor").areas == ("b",)
    assert [one.message for one in made.found("OCT370")] == [
        "agent `cfo` is not in the bundle: every area of it is switched off"
    ]


def test_a_tenants_agent_never_becomes_everybodys(company: Compile) -> None:
    """Without its tenant's area, or with a tenant that is switched off or unknown, an agent is left out."""
    tables = '[tenants.acme]\n{}\n[areas.a]\ntenant = "{}"\n{}\nagents = ["cfo"]\n[areas.b]\nshared = ["cfo"]\n'
    made = company(tables.format("", "acme", ""))
    assert member(made, "cfo").tenants == ("acme",)
    for off in (
        tables.format("", "acme", "enabled = false"),
        tables.format("enabled = false", "acme", ""),
        tables.format("", "acne", ""),
    ):
        assert "cfo" not in company(off).build.scoped.registries


def test_an_override_switches_an_agent_off(company: Compile) -> None:
    """The longest glob that says so counts."""
    made = company('[overrides."*"]\nenabled = false\n[overrides.cfo]\nenabled = true\n')
    assert set(made.build.scoped.registries) == {"cfo"}


def test_settings_of_the_area_and_of_overrides_are_merged_by_key(company: Compile) -> None:
    """The longest override counts for each key, then the area, then the workspace; a quota stands on `[quota]`."""

    def with_quota(builder: Any) -> None:
        builder.settings("quota", calls=1000, concurrent=8)

    made = company(
        """
[areas.a]
agents = ["cfo", "auditor"]
[areas.a.defaults.results]
max_chars = 9000
keep = "both"
[areas.a.defaults.routing]
auto = false
[areas.a.defaults.quota]
calls = 500
[overrides."c*".results]
max_chars = 100
max_tokens = 50
[overrides.cfo.results]
max_tokens = 70
[overrides.cfo.quota]
window = 60
""",
        settings=with_quota,
    )
    assert member(made, "cfo").settings == AgentSettings(
        max_chars=100, max_tokens=70, keep="both", auto=False, quota=Quota(calls=500, concurrent=8, window_s=60.0)
    )
    assert member(made, "auditor").settings.max_chars == 9000
    assert member(made, "recruiter") is None


def test_the_profile_octopus_of_an_area_has_its_limit(company: Compile) -> None:
    """As in `[results]`, profile `octopus` is 2,000 tokens where none are written."""
    made = company('[areas.a]\nagents = ["cfo"]\n[areas.a.defaults.results]\nprofile = "octopus"\n')
    assert member(made, "cfo").settings.max_tokens == 2000


@pytest.mark.parametrize(
    "settings, agents, code",
    [
        ({"mode": "production"}, ("cfo", "auditor"), ["OCT360"]),
        ({"mode": "production"}, ("cfo",), []),
        ({"mode": "development"}, ("cfo", "auditor"), []),
    ],
)
def test_production_wants_a_profile_by_name(company: Compile, settings: Any, agents: Any, code: list[str]) -> None:
    """With several agents, or any table of scopes, a production workspace says what ungranted tools are."""
    made = company(profile=None, agents=agents, settings=lambda builder: builder.settings("workspace", **settings))
    assert made.errors == code
    # Without a profile an agent gets no tools.
    assert (made.tools("cfo") == set()) is bool(code)
