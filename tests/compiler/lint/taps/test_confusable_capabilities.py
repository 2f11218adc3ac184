"""The rule that names two capabilities whose triggers are each other's by meaning."""

from collections.abc import Sequence
from pathlib import Path

from octoc import plugin
from octoc.compiler.workspace.build import BuildOutcome
from octoc.plugin.manager import plugins_of
from octoc.testing import FakeEmbedder, WorkspaceBuilder

READ = ("search the stored memory", "find a stored memory", "recall the memory of today", "open the memory list")
WRITE = ("search the memory stored here", "find the memory stored", "add a thing to remember", "write a memory")
MAPS = ("directions to the station", "how far to Rome by car", "street map of Lisbon", "traffic on the road")


class Fake:
    """A plugin that has the fake embedder."""

    @plugin.hookimpl
    def octoc_make_embedder(self, name: str) -> FakeEmbedder | None:
        return FakeEmbedder() if name == "fake" else None


def built(root: Path, **capabilities: Sequence[str]) -> BuildOutcome:
    """Build a workspace of these capabilities."""
    builder = WorkspaceBuilder(root, routing={"encoder": "fake", "needs": False})
    for name, triggers in capabilities.items():
        builder.capability(name, triggers, server={"command": name})
    return builder.build(plugins_of(Fake()))


def test_rivals_are_named_once_as_a_pair(tmp_path: Path) -> None:
    """Two capabilities that take each other's triggers are reported once, with triggers of both."""
    (found,) = [
        one for one in built(tmp_path, read=READ, write=WRITE, maps=MAPS).diagnostics if one.rule.code == "OCT436"
    ]
    assert found.message.startswith("`read` and `write` are rivals: ")
    assert found.message.endswith(" of their 8 triggers would go to the other")
    assert any("of `read`" in note for note in found.notes)


def test_capabilities_about_different_things_are_no_rivals(tmp_path: Path) -> None:
    """Two capabilities that share no words, or a single one, are not reported."""
    assert "OCT436" not in {one.rule.code for one in built(tmp_path, read=READ, maps=MAPS).diagnostics}
    assert "OCT436" not in {one.rule.code for one in built(tmp_path / "alone", read=READ).diagnostics}
