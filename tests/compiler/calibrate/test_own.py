"""What a workspace brings to routing itself: needs, background, a stated precision, a profile of Octomind's gate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from octoc import plugin
from octoc.bundle.model import Gate
from octoc.bundle.reader import OpenBundle
from octoc.compiler.calibrate.needs.library import shipped_needs
from octoc.compiler.calibrate.own import all_examples, all_needs
from octoc.compiler.calibrate.precision import FEWEST, Judged, choose
from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.model.build import Build
from octoc.compiler.workspace.build import BuildOutcome, resolve_workspace
from octoc.plugin.manager import plugins_of
from octoc.routing.evidence import WITHOUT_NEEDS, Evidence
from octoc.testing import FakeEmbedder, WorkspaceBuilder

ROOMS = '[rooms]\nabout = "book rooms of the office"\nsays = ["is the small room free at three?", "a table for ten"]\n'


class Fake:
    """A plugin that has the fake embedder."""

    @plugin.hookimpl
    def octoc_make_embedder(self, name: str) -> FakeEmbedder | None:
        return FakeEmbedder() if name == "fake" else None


def workspace(root: Path, **routing: Any) -> WorkspaceBuilder:
    """Return a workspace with two capabilities and the fake embedder; without the library unless it is asked for."""
    builder = WorkspaceBuilder(root, routing={"encoder": "fake", "needs": False, **routing})
    builder.capability("clock", ["what time is it", "the hour in Rome", "clock of Tokyo"], server={"command": "c"})
    return builder.capability("notes", ["write this down", "keep a note", "find my note"], server={"command": "n"})


def build_of(root: Path) -> Build:
    """Return the workspace up to resolve."""
    product, _, _ = resolve_workspace(root, plugins=plugins_of())
    assert product is not None
    return product


def codes(root: Path) -> set[str]:
    """Return the codes of a check's findings."""
    return {found.rule.code for found in check_workspace(root, use_cache=False).diagnostics}


def gate_of(outcome: BuildOutcome) -> Gate:
    """Return the gate that was built."""
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle) as opened:
        assert opened.bundle.gate is not None
        return opened.bundle.gate


def test_own_needs_join_the_library_or_stand_in_its_place(tmp_path: Path) -> None:
    """A need of a new name is added; one of the library's name replaces it; without the library they stand alone."""
    name = shipped_needs()[0].name
    own = f'{ROOMS}\n[{name}]\nabout = "ours"\nsays = ["do it the way that we do it"]\n'
    workspace(tmp_path, needs=True).file("routing/needs/office.toml", own).write()
    found = {need.name: need for need in all_needs(build_of(tmp_path))}
    assert len(found) == len(shipped_needs()) + 1
    assert found[name].about == "ours"
    workspace(tmp_path).write()
    assert [need.name for need in all_needs(build_of(tmp_path))] == sorted([name, "rooms"])


def test_own_background_is_learned(tmp_path: Path) -> None:
    """Lines of the background file are examples of no capability; comments and empty lines are not."""
    workspace(tmp_path).file("routing/background.txt", "# ours\n\nhow is the canteen today\n").write()
    lines = [example for example in all_examples(build_of(tmp_path)) if "canteen" in example.text]
    assert [(example.text, example.capability) for example in lines] == [("how is the canteen today", None)]
    assert "ours" not in {example.text for example in all_examples(build_of(tmp_path))}


def test_needs_and_background_are_inputs(tmp_path: Path) -> None:
    """The lock names the files and the texts that ship, and the bundle's gate depends on what they say."""
    builder = workspace(tmp_path).file("routing/background.txt", "how is the canteen today\n")
    outcome = builder.build(plugins_of(Fake()))
    lock = (tmp_path / "octoc.lock").read_text(encoding="utf-8")
    assert '"routing/background.txt" = "' in lock
    assert "[gate.texts]" in lock
    assert "other_senses = " in lock
    assert "needs/commerce" not in lock
    builder.file("routing/background.txt", "what time is lunch in Rome\n")
    again = builder.build(plugins_of(Fake()))
    assert again.digest != outcome.digest
    assert any("routing/background.txt" in change for change in again.changes)


def test_the_lock_names_the_library(tmp_path: Path) -> None:
    """Where the library is learned from, each of its files has a digest in the lock."""
    workspace(tmp_path, needs=True).build(plugins_of())
    assert '"needs/commerce" = "' in (tmp_path / "octoc.lock").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path,text,code",
    [
        ("routing/needs/a.toml", "# nothing\n", "OCT207"),
        ("routing/needs/a.toml", '[rooms]\nabout = "x"\n', "OCT202"),
        ("routing/needs/a.toml", '[rooms]\nabout = "x"\nsays = ["y y y y y", "y y y y y"]\n', "OCT210"),
        ("routing/needs/a.toml", '[rooms]\nabout = "x"\nsays = ["y"]\nsay = 1\n', "OCT201"),
        ("routing/background.txt", "# nothing\n", "OCT207"),
        ("routing/expanded.toml", "[clock]\nsays = []\n", "OCT202"),
    ],
)
def test_mistakes_are_found(tmp_path: Path, path: str, text: str, code: str) -> None:
    """What is unsound in these files is found by a check."""
    workspace(tmp_path).file(path, text).write()
    assert code in codes(tmp_path)


def test_a_need_twice(tmp_path: Path) -> None:
    """When two files have one need, the first is used and the second reported."""
    workspace(tmp_path).file("routing/needs/a.toml", ROOMS).file(
        "routing/needs/b.toml", ROOMS.replace("ten", "six")
    ).write()
    assert "OCT354" in codes(tmp_path)
    (need,) = build_of(tmp_path).resolved.needs
    assert "a table for ten" in need.says


def test_a_background_that_is_not_there(tmp_path: Path) -> None:
    """A written pattern that matches nothing is an error; the default pattern is not."""
    workspace(tmp_path).write()
    assert "OCT121" not in codes(tmp_path)
    workspace(tmp_path, background=["texts/*.txt"]).write()
    assert "OCT121" in codes(tmp_path)


def judged(*scores: tuple[float, bool]) -> list[Judged]:
    """Return messages with one activation each."""
    return [((score, right),) for score, right in scores]


def test_the_lowest_threshold_that_is_precise() -> None:
    """Wrong activations lie below .3, so the threshold comes to lie above them, and no higher."""
    many = judged(*[(0.2 + number / 1000, False) for number in range(20)], *[(0.35, True)] * 40)
    chosen = choose(many, 0.95, 0.1, 0.3)
    assert chosen is not None
    assert 0.2 < chosen.threshold <= 0.22
    assert chosen.reached
    assert chosen.right / chosen.activated >= 0.95
    assert (chosen.messages, choose(many, 0.95, 0.1, 0.3)) == (60, chosen)


def test_few_fixtures_choose_nothing() -> None:
    """Below so many activations there is no choice, however right they are."""
    assert choose(judged(*[(0.5, True)] * (FEWEST - 1)), 0.9, 0.1, 0.3) is None
    assert choose(judged(*[(0.05, True)] * 100), 0.9, 0.1, 0.3) is None


def test_a_precision_out_of_reach_is_cautious() -> None:
    """Where a few lucky messages alone are precise enough, the cautious threshold is taken, and not called precise."""
    lucky = judged(*[(0.8, True)] * 5, *[(0.5, number % 2 == 0) for number in range(60)])
    chosen = choose(lucky, 0.95, 0.1, 0.3)
    assert chosen is not None
    assert (chosen.threshold, chosen.reached) == (0.3, False)


def fixtures(count: int) -> str:
    """Return fixtures of `clock` that share words with its triggers, and one that expects no capability."""
    cities = [f"city{number}" for number in range(count)]
    right = [f'[[message]]\ntext = "what time is it in {city}"\nexpect = "clock"\n' for city in cities]
    return "\n".join([*right, '[[message]]\ntext = "thanks a lot for that"\nexpect = "none"\n'])


def test_a_build_chooses_on_the_fixtures(tmp_path: Path) -> None:
    """With enough fixtures the build says what was chosen and from how many, and the gate has it."""
    outcome = workspace(tmp_path, precision=0.9).file("routing/a.toml", fixtures(30)).build(plugins_of(Fake()))
    (said,) = [found for found in outcome.diagnostics if found.rule.code == "OCT706"]
    assert "on 31 fixtures for a precision of 0.9" in said.message
    gate = gate_of(outcome)
    assert gate.data["precision"]["vectors"]["messages"] == 31
    assert gate.threshold == gate.data["precision"]["vectors"]["threshold"]


def test_too_few_fixtures_keep_the_profile(tmp_path: Path) -> None:
    """With three fixtures the profile's threshold stays, and a warning says why."""
    outcome = workspace(tmp_path, precision=0.9).file("routing/a.toml", fixtures(3)).build(plugins_of(Fake()))
    assert "OCT707" in {found.rule.code for found in outcome.diagnostics}
    plain = workspace(tmp_path).build(plugins_of(Fake()))
    assert gate_of(outcome).threshold == gate_of(plain).threshold


def test_a_few_needs_of_its_own_make_a_gate(tmp_path: Path) -> None:
    """Without the library, a single need of the workspace's own is learned from, and the gate decides."""
    outcome = workspace(tmp_path).file("routing/needs/office.toml", ROOMS).build(plugins_of(Fake()))
    assert gate_of(outcome).data["classes"] == ["clock", "notes"]


def test_a_library_that_does_not_help_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a helpful need the gate learns from none and has further evidence, and the build reports it."""
    monkeypatch.setattr("octoc.compiler.calibrate.matching.HELPED", 2.0)
    outcome = workspace(tmp_path, needs=True).build(plugins_of(Fake()))
    assert "OCT704" in {found.rule.code for found in outcome.diagnostics}
    gate = gate_of(outcome)
    assert gate.data["needs"] == {}
    assert Evidence(**gate.data["nearby"]["evidence"]) == WITHOUT_NEEDS


def test_a_gate_with_needs_has_no_further_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a need that helps the gate weighs nearby examples as it did before."""
    monkeypatch.setattr("octoc.compiler.calibrate.matching.HELPED", 0.0)
    gate = gate_of(workspace(tmp_path, needs=True).build(plugins_of(Fake())))
    assert gate.data["needs"]
    assert "evidence" not in gate.data["nearby"]


@pytest.mark.parametrize("profile,threshold", [("public", 0.55), ("newest", 0.45)])
def test_octominds_profiles(tmp_path: Path, profile: str, threshold: float) -> None:
    """Octomind's published and its newest constants go by name."""
    gate = gate_of(workspace(tmp_path, gate="octomind", profile=profile).build(plugins_of(Fake())))
    assert (gate.threshold, gate.margin, gate.data["profile"]) == (threshold, 0.08, profile)


@pytest.mark.parametrize(
    "routing", [{"profile": "newest"}, {"gate": "octomind", "profile": "eager"}, {"gate": "octomind", "precision": 0.9}]
)
def test_a_setting_of_the_other_gate(tmp_path: Path, routing: dict[str, Any]) -> None:
    """A profile or a precision of the gate that is not used is reported, and the build goes on."""
    outcome = workspace(tmp_path, **routing).build(plugins_of(Fake()))
    assert outcome.bundle is not None
    assert [found.message for found in outcome.diagnostics if found.rule.name == "unused-setting"] != []
