"""`octoc show --cache`, on a bundle that was really built."""

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


def test_the_stable_prefix_as_json(octoc: Run, bundle: str) -> None:
    """The report has the stable prefix in tokens and bytes, and what each activation appends."""
    done = octoc("show", "--cache", "supervisor", "--json", "--bundle", bundle)
    assert (done.status, done.err) == (0, "")
    (agent,) = json.loads(done.out)["agents"]
    assert agent["name"] == "supervisor"
    assert agent["stable"] == agent["block"]
    assert agent["stable"]["tokens"] > 20
    assert agent["stable"]["bytes"] > agent["stable"]["tokens"]
    (time,) = agent["activations"]
    assert (time["capability"], time["evicts"], time["unknown"]) == ("time", [], [])
    assert time["appends"]["tools"] == 2
    assert time["keeps"] == agent["block"]


def test_the_digest_is_the_same_every_time(octoc: Run, bundle: str) -> None:
    """Two runs say the same bytes: what a deployment can compare before and after a change."""
    first, second = (octoc("show", "--cache", "--json", "--bundle", bundle).out for _ in range(2))
    assert first == second
    assert len(json.loads(first)["agents"]) >= 1


def test_the_cache_for_people(octoc: Run, bundle: str) -> None:
    """For people each agent has a line with the prefix, and a table of activations."""
    done = octoc("show", "--cache", "--agent", "supervisor", "--bundle", bundle)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("supervisor: the first ")
    assert "what each activation appends" in done.out
    assert "\ntime " in done.out


def test_sections_and_cache_exclude_each_other(octoc: Run, bundle: str) -> None:
    """The cache is a report of its own: with sections it is a usage error, exit status 2."""
    assert octoc("show", "tools", "--cache", "--bundle", bundle).status == 2


def test_the_cache_of_an_unknown_agent(octoc: Run, bundle: str) -> None:
    """An agent that the bundle does not have is an error with near names, exit status 1."""
    done = octoc("show", "--cache", "supervisr", "--bundle", bundle)
    assert (done.status, done.out) == (1, "")
    assert "did you mean `supervisor`?" in done.err
