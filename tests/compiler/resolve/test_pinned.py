"""`[routing] pinned` of octoc.toml names capabilities."""

from pathlib import Path

from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder


def test_a_pinned_capability_has_to_be_there(tmp_path: Path) -> None:
    """A name that no tap has is an error at its own place, with the near name."""
    builder = WorkspaceBuilder(tmp_path)
    builder.capability("clock", ["what time is it"]).server("time", "time-mcp")
    outcome = builder.settings("plugins", use=[]).settings("routing", pinned=["clokc"]).build(plugins_of())
    (found,) = [found for found in outcome.diagnostics if found.rule.code == "OCT304"]
    assert (found.message, found.help) == (
        "`pinned` names capability `clokc`, which no tap has",
        "did you mean `clock`?",
    )
    assert found.span is not None
    assert (found.span.file, found.span.line > 0) == ("octoc.toml", True)
