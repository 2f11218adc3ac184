"""`octoc show skills`: the skills of a bundle, and of one agent with why it has each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from octoc.cli.root import root as cli
from octoc.testing import WorkspaceBuilder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace of three skills, and agents that have some of them."""
    builder = (
        WorkspaceBuilder(tmp_path)
        .skill("code", domains="developer", rules=["content(code)"])
        .skill("prose", domains="content", rules=["content(prose)"])
        .skill("all")
        .octomind_agent("developer", "general")
        .agent("writer", skills=["prose"])
    )
    outcome = builder.build()
    assert outcome.bundle is not None
    return tmp_path


def _shown(workspace: Path, *arguments: str) -> Any:
    done = CliRunner().invoke(cli, ["show", "skills", "--workspace", str(workspace), "--json", *arguments])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["skills"]


def test_all_skills(workspace: Path) -> None:
    """Without an agent every skill is listed, with what its file says."""
    skills = _shown(workspace)
    assert [skill["name"] for skill in skills] == ["all", "code", "prose"]
    assert skills[1]["rules"] == ["content(code)"]
    assert "why" not in skills[0]


@pytest.mark.parametrize(
    "agent, expected",
    [
        ("developer:general", [("all", "of no domain", "name"), ("code", "domain developer", "rules, name")]),
        ("writer", [("prose", "named by the agent", "rules, name")]),
        (
            "supervisor",
            [
                ("all", "of no domain", "name"),
                ("code", "the agent has no domain", "rules, name"),
                ("prose", "the agent has no domain", "rules, name"),
            ],
        ),
    ],
)
def test_an_agents_skills(workspace: Path, agent: str, expected: list[tuple[str, str, str]]) -> None:
    """With an agent only its skills are listed, with the reason and what uses them."""
    skills = _shown(workspace, "--agent", agent)
    assert [(skill["name"], skill["why"], skill["used_by"]) for skill in skills] == expected


def test_the_table(workspace: Path) -> None:
    """One agent's table has the reason too; that of all has no column for it."""
    everyone = CliRunner().invoke(cli, ["show", "skills", "--workspace", str(workspace)])
    assert everyone.stdout.splitlines()[1].split() == ["skill", "description"]
    done = CliRunner().invoke(cli, ["show", "skills", "--workspace", str(workspace), "--agent", "writer"])
    assert done.exit_code == 0
    assert "named by the agent" in done.stdout


def test_route_explains_which_skills_a_message_uses(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`octoc route --explain` tells the skills whose rules the message meets, in the folder where it is run."""
    monkeypatch.chdir(workspace)
    arguments = ["route", "--explain", "--workspace", str(workspace), "please read my prose"]
    done = CliRunner().invoke(cli, arguments)
    assert "skill:    prose (content(prose))\n" in done.output
    found = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).stdout)
    assert found["skills"] == [{"name": "prose", "line": "content(prose)", "score": None}]
