"""Expansion of triggers: asked of plugins once, reviewed in a file, read by every build."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from octoc.compiler.calibrate.own import EXPANDED_WEIGHT, all_examples
from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.expand.ask_plugins import ExpansionReport, expand
from octoc.compiler.inputs.routing import EXPANDED_FILE
from octoc.compiler.workspace.build import build, resolve_workspace
from octoc.diagnostics.model import DiagnosticSink
from octoc.plugin import PluginError, hookimpl
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "paraphraser" / "paraphraser.py"
TRIGGERS = ["what time is it", "the hour in Rome", "clock of Tokyo"]


class Says:
    """A plugin that answers from a list, and remembers what it was asked."""

    def __init__(self, *texts: Any) -> None:
        self.texts, self.asked = texts, list[tuple[str, tuple[str, ...]]]()

    @hookimpl
    def octoc_expand_triggers(self, capability: str, triggers: Sequence[str]) -> Iterator[Any]:
        self.asked.append((capability, tuple(triggers)))
        yield from self.texts


class Fails:
    """A plugin that cannot answer for `clock`."""

    @hookimpl
    def octoc_expand_triggers(self, capability: str) -> list[str]:
        if capability == "clock":
            raise PluginError("the model is asleep")
        return ["please put this in writing"]


def workspace(root: Path, triggers: Sequence[str] = TRIGGERS) -> None:
    """Write a workspace with the capabilities `clock` and `notes`."""
    builder = WorkspaceBuilder(root).server("time", "time-mcp").snapshot("time", ["now"])
    builder.capability("clock", list(triggers), server="time")
    builder.capability("notes", ["write this down", "keep a note", "find my note"], server="time").write()


def run(root: Path, *plugins: object, **options: Any) -> tuple[ExpansionReport, DiagnosticSink]:
    """Expand the workspace."""
    made, _, _ = resolve_workspace(root, plugins=plugins_of())
    assert made is not None
    sink = DiagnosticSink()
    return expand(made, root, plugins_of(*plugins), sink, **options), sink


def says(root: Path) -> dict[str, tuple[str, ...]]:
    """Return what a build would read of the file."""
    made, _, _ = resolve_workspace(root, plugins=plugins_of())
    assert made is not None
    return dict(made.resolved.expansions)


class Interrupted:
    """A plugin that answers for `clock`, and is interrupted when it is asked for `notes`."""

    @hookimpl
    def octoc_expand_triggers(self, capability: str) -> list[str]:
        if capability == "notes":
            raise KeyboardInterrupt
        return ["is it late already?"]


def test_what_was_answered_is_kept_when_the_next_is_interrupted(tmp_path: Path) -> None:
    """Each answer is written as soon as it arrives, so that an interrupted run keeps it."""
    workspace(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Interrupted())
    assert says(tmp_path) == {"clock": ("is it late already?",)}


def test_answers_are_written_sorted_and_asked_for_once(tmp_path: Path) -> None:
    """Each capability is asked for with its triggers; a second run asks nothing and leaves the file as it is."""
    workspace(tmp_path)
    plugin = Says("is it late already?", "do I still have time for lunch", "is it late already?")
    outcome, sink = run(tmp_path, plugin, names=["clock"])
    assert [(one.capability, len(one.new)) for one in outcome.asked] == [("clock", 2)]
    assert plugin.asked == [("clock", tuple(TRIGGERS))]
    assert says(tmp_path) == {"clock": ("do I still have time for lunch", "is it late already?")}
    before = (tmp_path / EXPANDED_FILE).read_text(encoding="utf-8")
    outcome, _ = run(tmp_path, plugin, names=["clock"])
    assert (outcome.current, outcome.changed, len(plugin.asked)) == (("clock",), False, 1)
    assert (tmp_path / EXPANDED_FILE).read_text(encoding="utf-8") == before
    assert sink.diagnostics == ()


def test_what_is_deleted_stays_deleted(tmp_path: Path) -> None:
    """A text that the user deleted is not written again, although the plugin returns it again."""
    workspace(tmp_path)
    plugin = Says("is it late already?", "do I still have time for lunch")
    run(tmp_path, plugin, names=["clock"])
    file = tmp_path / EXPANDED_FILE
    file.write_text(file.read_text(encoding="utf-8").replace('  "is it late already?",\n', ""), encoding="utf-8")
    plugin.texts = (*plugin.texts, "how long until the meeting begins")
    run(tmp_path, plugin, names=["clock"], again=True)
    assert says(tmp_path) == {"clock": ("do I still have time for lunch", "how long until the meeting begins")}


def test_only_messages_are_kept(tmp_path: Path) -> None:
    """Triggers, values that are not text, too short or long texts, and possible secrets are dropped and counted."""
    workspace(tmp_path)
    secret = "use the key sk-abcdefghij7klmnopqrstuvwx to look"
    outcome, _ = run(
        tmp_path, Says("What time is it", 7, "hm", "x" * 400, secret, "how late\n is it by now"), names=["clock"]
    )
    assert says(tmp_path) == {"clock": ("how late is it by now",)}
    assert outcome.asked[0].dropped == 5


def test_stale_texts_are_used_and_reported(tmp_path: Path) -> None:
    """After a capability was reworded a check says so at the file, and the texts count until they are made anew."""
    workspace(tmp_path)
    run(tmp_path, Says("is it late already?"), names=["clock"])
    workspace(tmp_path, [*TRIGGERS, "which day is it"])
    (stale,) = [
        found for found in check_workspace(tmp_path, use_cache=False).diagnostics if found.rule.code == "OCT355"
    ]
    assert stale.span is not None
    assert stale.span.file == EXPANDED_FILE
    assert says(tmp_path) == {"clock": ("is it late already?",)}
    run(tmp_path, Says("how late is it by now"))
    assert says(tmp_path)["clock"] == ("how late is it by now", "is it late already?")
    assert "OCT355" not in {found.rule.code for found in check_workspace(tmp_path, use_cache=False).diagnostics}


def test_a_plugin_that_fails_leaves_the_others(tmp_path: Path) -> None:
    """The failure is reported at its capability, what else was answered is written, and nothing is lost."""
    workspace(tmp_path)
    run(tmp_path, Says("is it late already?"), names=["clock"])
    outcome, sink = run(tmp_path, Fails(), again=True)
    assert [found.rule.code for found in sink.diagnostics] == ["OCT705"]
    assert [one.capability for one in outcome.asked] == ["notes"]
    assert says(tmp_path) == {"clock": ("is it late already?",), "notes": ("please put this in writing",)}


def test_without_such_a_plugin_nothing_is_written(tmp_path: Path) -> None:
    """Without a plugin that expands triggers there are no answers, and no file is written."""
    workspace(tmp_path)
    outcome, _ = run(tmp_path)
    assert not outcome.answers
    assert not (tmp_path / EXPANDED_FILE).exists()


def test_a_build_reads_the_file_and_never_asks(tmp_path: Path) -> None:
    """The texts are examples of less weight, the file is an input that the lock names, and no plugin is asked."""
    workspace(tmp_path)
    plugin = Says("is it late already?")
    run(tmp_path, plugin, names=["clock"])
    made, _, _ = resolve_workspace(tmp_path, plugins=plugins_of())
    assert made is not None
    (example,) = [one for one in all_examples(made) if one.text == "is it late already?"]
    assert (example.capability, example.weight) == ("clock", EXPANDED_WEIGHT)
    assert 0 < EXPANDED_WEIGHT < 1
    build(tmp_path, plugins=plugins_of(plugin), allow_degraded=True)
    assert len(plugin.asked) == 1
    assert f'"{EXPANDED_FILE}" = ' in (tmp_path / "octoc.lock").read_text(encoding="utf-8")


def test_what_no_tap_has_any_more_is_left_out(tmp_path: Path) -> None:
    """Texts of a capability that is gone are reported by a check, and the next expansion takes them out."""
    workspace(tmp_path)
    run(tmp_path, Says("is it late already?"))
    file = tmp_path / EXPANDED_FILE
    file.write_text(file.read_text(encoding="utf-8").replace("[notes]", "[gone]"), encoding="utf-8")
    assert "OCT355" in {found.rule.code for found in check_workspace(tmp_path, use_cache=False).diagnostics}
    outcome, _ = run(tmp_path, Says("is it late already?"))
    assert outcome.gone == ("gone",)
    assert "[gone]" not in file.read_text(encoding="utf-8")


@pytest.fixture
def paraphraser() -> ModuleType:
    """The example's module."""
    spec = importlib.util.spec_from_file_location("paraphraser", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_example_asks_a_program(tmp_path: Path, paraphraser: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example's program reads the triggers on stdin, and its lines are written without bullets."""
    workspace(tmp_path)
    program = tmp_path / "answer.py"
    lines = ("import sys", 'assert "- clock of Tokyo" in sys.stdin.read()')
    answers = ("1. is it late already?", "", "- how late is it now")
    program.write_text("\n".join([*lines, *(f"print({answer!r})" for answer in answers)]), encoding="utf-8")
    monkeypatch.setenv("PARAPHRASER", f"{sys.executable} {program}")
    run(tmp_path, paraphraser, names=["clock"])
    assert says(tmp_path) == {"clock": ("how late is it now", "is it late already?")}


def test_the_example_says_what_it_lacks(
    tmp_path: Path, paraphraser: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its variable, or with a program that fails, the example's failure is a finding."""
    workspace(tmp_path)
    monkeypatch.delenv("PARAPHRASER", raising=False)
    _, sink = run(tmp_path, paraphraser, names=["clock"])
    assert "`PARAPHRASER` is not set" in sink.diagnostics[0].message
    monkeypatch.setenv("PARAPHRASER", str(tmp_path / "nothing"))
    _, sink = run(tmp_path, paraphraser, names=["clock"])
    assert "did not answer" in sink.diagnostics[0].message
