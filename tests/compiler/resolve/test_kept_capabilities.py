"""`[routing] keep` of octoc.toml names capabilities."""

from pathlib import Path

import pytest

from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder


@pytest.mark.parametrize("key", ["keep", "pinned"])
def test_a_kept_capability_has_to_be_there(tmp_path: Path, key: str) -> None:
    """A name that no tap has is an error at its own place, with the near name, also under the key's old name."""
    builder = WorkspaceBuilder(tmp_path)
    builder.capability("clock", ["what time is it"]).server("time", "time-mcp")
    outcome = builder.settings("plugins", use=[]).settings("routing", **{key: ["clokc"]}).build(plugins_of())
    (found,) = [found for found in outcome.diagnostics if found.rule.code == "OCT304"]
    assert (found.message, found.help) == ("`keep` names capability `clokc`, which no tap has", "did you mean `clock`?")
    assert found.span is not None
    text = (tmp_path / "octoc.toml").read_text(encoding="utf-8").splitlines()[found.span.line - 1]
    assert text[found.span.column - 1 : found.span.end_column - 1] == '"clokc"'
