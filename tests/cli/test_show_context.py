"""`octoc show --context`, on a bundle that was really built."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def bundle(built: Path) -> str:
    """The path of a bundle."""
    return str(built / "dist" / "acme.octoc")


def test_what_an_agent_begins_with_as_json(octoc: Run, bundle: str) -> None:
    """Each section has its parts, and their tokens are its own."""
    done = octoc("show", "--context", "supervisor", "--json", "--bundle", bundle)
    assert (done.status, done.err) == (0, "")
    found = json.loads(done.out)
    assert (found["agent"], found["budget"]) == ("supervisor", None)
    assert "octoc's tools" in [section["name"] for section in found["sections"]]
    for section in found["sections"]:
        assert section["tokens"] == sum(part["tokens"] for part in section["parts"])
    assert found["tokens"] == sum(section["tokens"] for section in found["sections"])


def test_what_an_agent_begins_with_for_people(octoc: Run, bundle: str) -> None:
    """A line with the sum, and a table for each section."""
    done = octoc("show", "--context", "supervisor", "--bundle", bundle)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("supervisor: ")
    assert "octoc's tools: " in done.out
    assert "\nfind_tools " in done.out


def test_without_a_name_it_is_the_agent_that_commands_act_as(octoc: Run, bundle: str) -> None:
    """`--context` alone is the supervisor's, or of the agent that `--agent` names."""
    assert octoc("show", "--context", "--bundle", bundle).out.startswith("supervisor: ")
    assert octoc("show", "--context", "--agent", "absent", "--bundle", bundle).status == 1


def test_sections_and_context_exclude_each_other(octoc: Run, bundle: str) -> None:
    """The context is a report of its own: with sections it is a usage error, exit status 2."""
    assert octoc("show", "tools", "--context", "supervisor", "--bundle", bundle).status == 2


def test_the_context_of_an_unknown_agent(octoc: Run, bundle: str) -> None:
    """An agent that the bundle does not have is an error with near names, exit status 1."""
    done = octoc("show", "--context", "supervisr", "--bundle", bundle)
    assert (done.status, done.out) == (1, "")
    assert "did you mean `supervisor`?" in done.err
