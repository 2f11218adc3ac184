"""The rule that asks the gate whether a capability's own triggers activate it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from octoc import plugin
from octoc.plugin.manager import plugins_of
from octoc.testing import FakeEmbedder, WorkspaceBuilder

SAME = ("write this down now", "keep this for later", "remember what we said")


class Fake:
    """A plugin that has the fake embedder."""

    @plugin.hookimpl
    def octoc_make_embedder(self, name: str) -> FakeEmbedder | None:
        return FakeEmbedder() if name == "fake" else None


@pytest.mark.parametrize(
    "diary,expected",
    [
        (SAME, ["none of the 3 triggers of capability `diary` activates it",
                "none of the 3 triggers of capability `notes` activates it"]),
        ((*SAME[:2], "open my diary of yesterday"), []),
    ],
)  # fmt: skip
def test_triggers_that_the_gate_cannot_tell_apart(tmp_path: Path, diary: Sequence[str], expected: list[str]) -> None:
    """Capabilities with the same triggers are both unreachable; one trigger of its own makes a capability reachable."""
    builder = WorkspaceBuilder(tmp_path, routing={"encoder": "fake", "gate": "octomind", "top_k": 1})
    builder.capability("notes", SAME, server={"command": "notes"})
    builder.capability("diary", diary, server={"command": "diary"})
    if not expected:
        builder.capability("notes", (*SAME[:2], "list the notes of this week"), server={"command": "notes"})
    outcome = builder.build(plugins_of(Fake()))
    found = [one for one in outcome.diagnostics if one.rule.code == "OCT424"]
    assert [one.message for one in found] == expected
    for one in found:
        assert one.notes == (f"the best score is 1.000, the threshold 0.550; `{other(one.message)}` scores 1.000",)


def other(message: str) -> str:
    """Return the rival of the capability that a message is about."""
    return "notes" if "`diary`" in message else "diary"


def test_without_an_encoder_nothing_is_said(tmp_path: Path) -> None:
    """A build without routing has no gate to ask."""
    builder = WorkspaceBuilder(tmp_path, routing={"encoder": "none-such"})
    for name in ("notes", "diary"):
        builder.capability(name, SAME, server={"command": name})
    codes = {one.rule.code for one in builder.build(plugins_of()).diagnostics}
    assert "OCT701" in codes
    assert "OCT424" not in codes
