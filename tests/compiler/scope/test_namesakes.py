"""Bare names: two tools of one name are reported only where one agent has both."""

from collections.abc import Callable
from typing import Any

import pytest

from octoc.compiler.scope.aliases import aliases_in

Compile = Callable[..., Any]
APART = """
[[grants]]
agents = "cfo"
tools = ["ledger/read"]
[[grants]]
agents = "recruiter"
tools = ["archive/read"]
"""


def bare(builder: Any) -> None:
    """Have bare aliases, and a second server with a tool `read`."""
    builder.settings("aliases", style="bare").server("archive", "archive-mcp").snapshot("archive", ["read"])


def test_namesakes_of_two_agents_are_no_clash(company: Compile) -> None:
    """Each agent calls its own by the bare name, and there is no error."""
    made = company(APART, settings=bare)
    assert made.errors == []
    tools = made.build.scoped.tools
    called = {
        agent: set(aliases_in(made.build.scoped.registries[agent], tools, "bare").values())
        for agent in ("cfo", "recruiter")
    }
    assert called == {"cfo": {"read"}, "recruiter": {"read"}}


@pytest.mark.parametrize("agent", ["cfo", "auditor"])
def test_namesakes_of_one_agent_are_an_error(company: Compile, agent: str) -> None:
    """The error names the agent and both servers; the aliases stay qualified until it is fixed."""
    made = company(f'{APART}[[grants]]\nagents = "{agent}"\ntools = ["ledger/read", "archive/*"]\n', settings=bare)
    (found,) = made.found("OCT331")
    assert found.message == f"tool `read` of agent `{agent}` is on 2 servers, and aliases are bare"
    assert [label.text for label in found.related] == ["also on `archive`"]
    called = aliases_in(made.build.scoped.registries[agent], made.build.scoped.tools, "bare")
    assert set(called.values()) == {"ledger__read", "archive__read"}
