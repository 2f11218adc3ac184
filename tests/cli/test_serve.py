"""`octoc serve` before anything is served: a missing plugin, configurations, tokens."""

import importlib.metadata
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.testing import WorkspaceBuilder

Run = Callable[..., Any]


def test_without_the_plugin_it_says_what_to_install(octoc: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without octoc-serve each of its commands ends with exit status 2 and the line that installs it."""
    found: Callable[..., Any] = importlib.metadata.entry_points
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda **asked: [one for one in found(**asked) if one.name != "serve"]
    )
    for words in (["serve"], ["serve", "--print-config", "claude"], ["serve", "token", "list"]):
        done = octoc(*words)
        assert (done.status, done.out) == (2, "")
        assert "pip install octoc-serve" in done.err
        assert "Traceback" not in done.err


@pytest.mark.parametrize("client", ["claude", "cursor", "vscode"])
def test_what_is_printed_for_a_client_parses(octoc: Run, tmp_path: Path, client: str) -> None:
    """The line for a client is JSON in its file's form; a bundle that is named stands there by its whole path."""
    workspace = WorkspaceBuilder(tmp_path / "ws").agent("clerk", type="worker")
    outcome = workspace.build()
    assert outcome.bundle is not None
    words = ["serve", "--bundle", str(outcome.bundle), "--agent", "clerk", "--stateless", "--print-config", client]
    done = octoc(*words)
    assert done.status == 0
    entry = json.loads(done.out)["servers" if client == "vscode" else "mcpServers"]["octoc"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-6:] == ["serve", "--bundle", str(outcome.bundle), "--agent", "clerk", "--stateless"]
    done = octoc(*words, "--transport", "http", "--host", "::1")
    whole = json.loads(done.out)
    entry = whole["servers" if client == "vscode" else "mcpServers"]["octoc"]
    assert entry["url"] == "http://[::1]:8000/mcp"
    reference = {"claude": "${OCTOC_TOKEN}", "cursor": "${env:OCTOC_TOKEN}", "vscode": "${input:octoc-token}"}[client]
    assert entry["headers"] == {"Authorization": f"Bearer {reference}"}
    assert ("inputs" in whole) == (client == "vscode")


def test_tokens_are_made_listed_and_revoked(octoc: Run, tmp_path: Path) -> None:
    """A token is printed once and alone on stdout; its file is for the user alone and has a digest of it."""
    file = tmp_path / "tokens.json"
    words = ("--tokens", str(file))
    made = octoc("serve", "token", "add", "--agent", "clerk", "--tenant", "acme", *words)
    assert made.status == 0
    assert made.out.strip().startswith("octoc_")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert made.out.strip() not in file.read_text(encoding="utf-8")
    listed = octoc("serve", "token", "list", *words)
    assert "clerk" in listed.out
    assert made.out.strip() not in listed.out
    (entry,) = json.loads(octoc("serve", "token", "list", "--json", *words).out)
    assert octoc("serve", "token", "revoke", "nobody", *words).status == 1
    assert octoc("serve", "token", "revoke", entry["id"], *words).status == 0
    assert json.loads(octoc("serve", "token", "list", "--json", *words).out) == []


def test_a_file_of_tokens_that_others_read_is_refused(octoc: Run, tmp_path: Path) -> None:
    """A file with a wide mode is an error of the user with the next step, not a traceback."""
    file = tmp_path / "tokens.json"
    file.write_text('{"version": 1, "tokens": []}', encoding="utf-8")
    file.chmod(0o644)
    done = octoc("serve", "token", "list", "--tokens", str(file))
    assert done.status == 1
    assert "mode 644: expected 600" in done.err
    assert "chmod 600" in done.err
