"""`octoc show routing`: the needs that capabilities meet, and which of them the gate learned from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from octoc import plugin
from octoc.cli.root import root as cli
from octoc.plugin.manager import plugins_of
from octoc.testing import FakeEmbedder, WorkspaceBuilder

CLOCK = '[clock]\nabout = "tell the time"\nsays = ["what time is it here", "the hour in Oslo", "clock of Cairo"]\n'


class Fake:
    """A plugin that has the fake embedder."""

    @plugin.hookimpl
    def octoc_make_embedder(self, name: str) -> FakeEmbedder | None:
        return FakeEmbedder() if name == "fake" else None


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceBuilder:
    """A workspace of two capabilities, one of which meets a need."""
    builder = WorkspaceBuilder(tmp_path, routing={"encoder": "fake", "needs": False})
    builder.capability("clock", ["what time is it", "the hour in Rome", "clock of Tokyo"], server={"command": "c"})
    builder.capability("notes", ["write this down", "keep a note", "find my note"], server={"command": "n"})
    return builder.file("routing/needs/clock.toml", CLOCK)


def _show(root: Path, *arguments: str) -> str:
    done = CliRunner().invoke(cli, ["show", "routing", "--workspace", str(root), *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_used_need_names_its_capability(workspace: WorkspaceBuilder) -> None:
    """A need of the workspace that helps its capability is used, and the table says why."""
    workspace.build(plugins_of(Fake()))
    assert json.loads(_show(workspace.root, "--json"))["routing"] == [
        {"need": "clock", "capability": "clock", "used": True, "why": "its triggers stay likely"}
    ]
    assert "its triggers stay likely" in _show(workspace.root)


def test_a_need_that_makes_triggers_unlikely_says_so(
    workspace: WorkspaceBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A need of the workspace is used although it does not help, and the reason is another one."""
    monkeypatch.setattr("octoc.compiler.calibrate.matching.HARMLESS", 100.0)
    # Other triggers than in the tests above, whose gate would be used again.
    workspace.capability("weather", ["will it rain tomorrow", "how warm is it outside"])
    workspace.build(plugins_of(Fake()))
    (need,) = json.loads(_show(workspace.root, "--json"))["routing"]
    assert (need["used"], need["why"]) == (True, "a need of the workspace")


def test_a_routed_message_names_the_needs_of_its_capability(workspace: WorkspaceBuilder) -> None:
    """`octoc route --explain` shows the needs of the best capability and of its rival, and no others."""
    workspace.build(plugins_of(Fake()))
    words = ["route", "what time is it", "--workspace", str(workspace.root), "--explain"]
    done = CliRunner().invoke(cli, words)
    assert "need:     clock: clock, learned from (its triggers stay likely)" in done.stdout
    assert json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)["needs"][0]["need"] == "clock"
    other = [*words[:1], "keep a note, find my note", *words[2:], "--json"]
    assert json.loads(CliRunner().invoke(cli, other).stdout)["needs"] == []
