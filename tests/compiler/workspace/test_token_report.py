"""The token bill, and the gate that `[budget]` makes of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.model.tokens import AgentTokens
from octoc.diagnostics.rule import Severity
from octoc.formats.render import tool_text
from octoc.runtime import Runtime
from octoc.testing import WorkspaceBuilder
from octoc.tokens import APPROXIMATE


def _builder(folder: Path, **settings: Any) -> WorkspaceBuilder:
    builder = WorkspaceBuilder(folder, **{"search": {"bind": "never"}, **settings}).server("git", "git-mcp")
    return builder.snapshot("git", ["log", "diff", "show", "blame"])


def _agents(builder: WorkspaceBuilder) -> dict[str, AgentTokens]:
    return {one.agent: one for one in builder.build().tokens.agents}


def test_the_bill_is_what_a_session_shows(tmp_path: Path) -> None:
    """An agent's direct tools and tokens are those of the block that its session shows its provider."""
    builder = _builder(tmp_path)
    builder.agent("a", description="An agent.", tools=["git/log", "git/diff"], model="gpt-5")
    builder.agent("b", description="An agent.", model="claude-sonnet-5")
    builder.capability("git", ["show the log"], server={"command": "other-mcp"}, allowed_tools=["git:*"])
    outcome = builder.build()
    assert outcome.bundle is not None
    runtime = Runtime.open(outcome.bundle)
    for paid in outcome.tokens.agents:
        block = runtime.session(paid.agent).tools(paid.format)
        assert (paid.direct_tools, paid.direct_tokens) == (
            len(block),
            sum(APPROXIMATE.count(tool_text(tool)) for tool in block),
        )
    assert {one.agent: one.format for one in outcome.tokens.agents} == {
        "a": "openai",
        "b": "anthropic",
        "supervisor": "anthropic",
    }


def test_what_is_found_is_deferred(tmp_path: Path) -> None:
    """Tools that the proxy reaches are counted apart, and the largest direct ones are named."""
    paid = _agents(_builder(tmp_path).agent("a", description="An agent.", tools=["git/log", "git/show"]))
    assert [name for name, _ in paid["a"].largest] == ["git__log", "git__show"]
    assert paid["supervisor"].deferred_tools == 4
    assert paid["supervisor"].deferred_tokens > sum(tokens for _, tokens in paid["a"].largest)
    assert paid["supervisor"].largest == ()


def test_a_build_with_nothing_to_do_knows_the_bill(tmp_path: Path) -> None:
    """The bill of a build that was not run is that of the last one."""
    builder = _builder(tmp_path).agent("a", description="An agent.", tools=["git/log"])
    first, second = builder.build(), builder.build()
    assert second.unchanged
    assert second.tokens == first.tokens


@pytest.mark.parametrize(
    "budget, over",
    [
        ({}, []),
        ({"max_tools": 99, "max_tokens": 99_999}, []),
        ({"max_tools": 3}, ["a"]),
        ({"max_tokens": 50}, ["a", "supervisor"]),
        ({"max_tools": 3, "agents": {"a": {"max_tools": 9}}}, []),
        ({"max_tokens": 9999, "agents": {"sup*": {"max_tokens": 1}, "*": {"max_tools": 3}}}, ["a", "supervisor"]),
    ],
)
def test_an_agent_over_its_budget_is_an_error(tmp_path: Path, budget: dict[str, Any], over: list[str]) -> None:
    """Each agent that is over the limit which counts for it is an error, with the largest tools and the counter."""
    builder = _builder(tmp_path, budget=budget, lint={"max_tools": 1})
    builder.agent("a", description="An agent.", tools=["git/log", "git/diff", "git/show", "git/blame"]).write()
    found = check_workspace(tmp_path, use_cache=False).diagnostics
    gate = [one for one in found if one.rule.code == "OCT460"]
    assert sorted(one.message.split("`")[1] for one in gate) == over
    for one in gate:
        assert one.severity == Severity.ERROR
        assert "by `chars/4`" in one.notes[-1]
    if "a" in over:
        (mine,) = [one for one in gate if "`a`" in one.message]
        assert mine.notes[0].startswith("the largest are `git__")
    hints = [one for one in found if one.rule.code == "OCT459"]
    assert len(hints) == (0 if budget else 1)
