"""Front matter of Claude Code's commands: values that YAML refuses and Claude Code reads."""

from pathlib import Path

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.rule import Severity

OWN, OF_PLUGIN, LISTED = ".claude/commands/file.md", "commands/file.md", "plugins/ledger/commands/file.md"
MARKETPLACE = '{"name": "m", "owner": {"name": "A"}, "plugins": [{"name": "ledger", "source": "./plugins/ledger"}]}'


@pytest.mark.parametrize("path", [OWN, OF_PLUGIN, LISTED])
@pytest.mark.parametrize(
    "value, lines",
    [
        ("description: File it: add one entry", [2]),
        ('description: "File it: add one entry"', []),
        ("description: File it", []),
        ("argument-hint: [number] [topic]", []),
        ("argument-hint: [number]: [topic]", [2]),
        ("allowed-tools: Bash(git add:*), Read", []),
    ],
)
def test_a_value_with_a_colon_and_no_quotes(path: str, value: str, lines: list[int], tmp_path: Path) -> None:
    """Claude Code reads such a value as text, so it is information; a usual list of arguments stays silent."""
    manifest = {OF_PLUGIN: ".claude-plugin/plugin.json", LISTED: ".claude-plugin/marketplace.json"}.get(path)
    files = {path: f"---\n{value}\n---\nFile the entry.\n"}
    if manifest:
        files[manifest] = MARKETPLACE if path == LISTED else '{"name": "ledger"}'
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = check_target(CheckTarget(root=tmp_path, folder=tmp_path), use_cache=False).diagnostics
    of_value = [one for one in found if one.rule.code == "OCT115"]
    assert [(one.severity, one.span.line if one.span else 0) for one in of_value] == [(Severity.INFO, n) for n in lines]
