"""`find_tools` over an index: what it answers, what it leaves to be shown, and whom it tells what."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.search_settings import SearchSettings
from octoc.runtime import Session
from octoc.runtime.lifecycle import begin_session

if TYPE_CHECKING:
    from tests.runtime.conftest import Fleet

LONG = {"type": "object", "properties": {f"field{number}": {"type": "string"} for number in range(200)}}


def _ask(session: Session, **arguments: Any) -> Any:
    outcome = asyncio.run(session.call("find_tools", arguments))
    return json.loads(outcome.text) if outcome.text.startswith("[{") else outcome.text


@pytest.fixture
def session(fleet: Fleet) -> Session:
    """An agent with the proxy, and a server that only another one has."""
    fleet.server("tracker", ["create_issue", "list_issues", "close_issue"], {"list_issues": LONG, "close_issue": LONG})
    fleet.server("secret", ["list_secret_issues"])
    fleet.settings = attrs.evolve(fleet.settings, search=SearchSettings(max_tokens=200))
    fleet.agent(tools=fleet.index("tracker/create_issue", "tracker/list_issues", "tracker/close_issue"), proxy=True)
    fleet.agent("other", proxy=True)
    return fleet.open().session()


def test_schemas_over_the_budget_are_shown_on_demand(session: Session) -> None:
    """A schema over the budget is a signature in the answer, and `detail` shows it whole."""
    answer = _ask(session, query="issues")
    signatures = [line for line in answer.splitlines() if line.startswith("- tracker__")]
    assert len(signatures) == 3
    assert "field199" not in answer
    (whole,) = _ask(session, detail=["tracker__list_issues"])
    assert whole["parameters"] == LONG


def test_nothing_fits_stands_beside_the_nearest_tools(session: Session) -> None:
    """Where a query's words are in no tool, the answer says which and still has the nearest tools."""
    query = "wire the rent and electricity money to the landlord, tenants complain of issues"
    note = 'Nothing fits well: no tool mentions "wire", "rent", "electricity", "money", "landlord".'
    assert _ask(session, query=query).startswith(f"{note}\n- tracker__")
    found = session.search(query)
    assert (found.fits, found.note, len(found)) == (False, note, 3)
    assert (session.search("list issues").fits, session.search("list issues").note) == (True, "")


def test_the_note_names_the_product_or_the_action(session: Session) -> None:
    """A product that no tool mentions, or an action that a named server lacks, is the reason that the note gives."""
    assert session.search("list the issues in jira").note == 'Nothing fits well: no tool mentions "jira".'


def test_details_tell_nothing_of_others_tools(session: Session) -> None:
    """A tool that only another agent has is shown as one that does not exist."""
    secret, unknown = _ask(session, detail=["secret__list_secret_issues", "nowhere__nothing"])
    assert {key: value for key, value in secret.items() if key != "name"} == {
        key: value for key, value in unknown.items() if key != "name"
    }
    assert "error" in secret


def test_what_is_to_be_shown_is_an_array_of_names(session: Session) -> None:
    """`detail` takes an array of names or one name; another type fails with the expectation."""
    assert "expected an array of strings" in _ask(session, detail=3)
    assert _ask(session, detail="tracker__create_issue")[0]["name"] == "tracker__create_issue"


def test_only_the_own_registry_is_found(session: Session) -> None:
    """A word that only another agent's tool has finds nothing, and that agent finds it."""
    assert not session.search("secret")
    runtime = session.state.runtime
    other = Session(begin_session(runtime, runtime.current.agents["other"], session.caller))
    assert [hit.tool for hit in other.search("secret")] == ["secret/list_secret_issues"]


def test_octos_rule_ranks_where_it_is_named(fleet: Fleet) -> None:
    """With `rank = "octo"` a tool's score is how many words of the query are in it, and nothing is left out."""
    fleet.server("tracker", ["create_issue", "list_issues"])
    fleet.settings = attrs.evolve(fleet.settings, search=SearchSettings(rank="octo"))
    fleet.agent(proxy=True)
    session = fleet.open().session()
    assert [(hit.tool, hit.score) for hit in session.search("list the sue of")] == [
        ("tracker/list_issues", 3.0),
        ("tracker/create_issue", 2.0),
    ]
    assert session.state.loaded.search.rank(session.state.tools, "list", 5).method == "octo"


def test_a_bundle_without_vectors_is_searched_by_words_and_says_so(session: Session) -> None:
    """Where there is nothing to compare meanings with, words rank, and the answer says why."""
    answer = session.state.loaded.search.rank(session.state.tools, "issues", 5)
    assert answer.method == "words"
    assert answer.why == "the bundle has no vectors of tools"
    assert all(set(found.parts) == {"words"} for found in answer.hits)


def test_tools_that_join_are_found_with_the_rest(fleet: Fleet) -> None:
    """An unlisted server's tools are ranked once it was connected, and only for agents that have it."""
    fleet.server("tracker", ["create_issue"])
    fleet.server("late", ["export_issue"], listed=False)
    fleet.agent(proxy=True, unlisted=(fleet.grant("late"),))
    fleet.agent("other", proxy=True)

    async def run() -> None:
        async with fleet.open() as runtime:
            session, other = runtime.session(), runtime.session("other")
            assert [hit.tool for hit in session.search("export issue")] == ["tracker/create_issue"]
            await session.connect_unlisted()
            assert session.search("export issue")[0].tool == "late/export_issue"
            assert [hit.tool for hit in other.search("export issue")] == ["tracker/create_issue"]

    asyncio.run(run())
