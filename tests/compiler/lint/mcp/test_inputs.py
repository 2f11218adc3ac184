"""References to inputs, which VS Code asks the user for, in files of servers."""

import json
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.model import Diagnostic


def findings(root: Path, path: str, values: Any) -> list[Diagnostic]:
    """Return what OCT440 says of a file in a folder."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values), encoding="utf-8")
    found = check_target(CheckTarget(root=root, folder=root), use_cache=False).diagnostics
    return [one for one in found if one.rule.code == "OCT440"]


SERVERS = {"mcpServers": {"docs": {"command": "docs-server", "args": ["--key=${input:docs-key}"]}}}


def test_claude_code_asks_for_no_input(tmp_path: Path) -> None:
    """An input in `.mcp.json` is text, also where another server of the file has a mistake."""
    servers = {"mcpServers": {**SERVERS["mcpServers"], "both": {"command": "x", "url": "https://both.example/mcp"}}}
    (found,) = findings(tmp_path, ".mcp.json", servers)
    assert found.message.startswith("`${input:docs-key}` in `args[0]` of server `docs`")


@pytest.mark.parametrize("path, count", [(".kiro/settings/mcp.json", 1), (".cursor/mcp.json", 1), ("mcp.json", 0)])
def test_other_clients_ask_for_no_input(tmp_path: Path, path: str, count: int) -> None:
    """An input is text where the documentation of a client names none; a file of no client may be of one that asks."""
    assert len(findings(tmp_path, path, SERVERS)) == count


def test_a_workspace_has_inputs(tmp_path: Path) -> None:
    """A build replaces inputs itself where it reads the file for a workspace."""
    (tmp_path / "octoc.toml").write_text('[workspace]\nname = "acme"\n', encoding="utf-8")
    assert findings(tmp_path, ".mcp.json", SERVERS) == []


@pytest.mark.parametrize("value", ["Bearer ${input:docs-key", "${input:docs-key"])
def test_an_input_that_is_never_closed(tmp_path: Path, value: str) -> None:
    """A reference to an input without its brace is marked, beside a word that announces a token, too."""
    server = {"type": "http", "url": "https://docs.example/mcp", "headers": {"Authorization": value}}
    inputs = [{"id": "docs-key", "type": "promptString", "description": "Key", "password": True}]
    (found,) = findings(tmp_path, ".vscode/mcp.json", {"servers": {"docs": server}, "inputs": inputs})
    assert "`${input:docs-key` in" in found.message
    assert "no closing brace" in found.message
