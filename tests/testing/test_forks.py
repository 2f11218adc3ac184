"""`octoc` as a fork: a command with streams, folder, environment, signals and status of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

import octoc
from octoc.testing import WorkspaceBuilder


def run(words: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one command in a folder."""
    env = {**os.environ, **environment}
    return subprocess.run(words, cwd=folder, env=env, input="", capture_output=True, text=True, check=False)


def test_a_fork_is_the_command(octoc_words: list[str], tmp_path: Path) -> None:
    """Each fork has its own folder and environment, and its status and output are those of its words."""
    version = run([*octoc_words, "--version"], tmp_path)
    assert (version.returncode, version.stdout, version.stderr) == (0, f"octoc {octoc.__version__}\n", "")
    server = {"a": '{"mcpServers": {"one": {"command": 5}}}', "b": '{"mcpServers": {}}'}
    for name, text in server.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / ".mcp.json").write_text(text, encoding="utf-8")
    failed, passed = (run([*octoc_words, "check"], tmp_path / name, NO_COLOR="1") for name in server)
    assert (failed.returncode, passed.returncode) == (1, 0)
    assert ".mcp.json:1:" in failed.stdout + failed.stderr
    colored = run([*octoc_words, "check"], tmp_path / "a", FORCE_COLOR="1")
    assert "\x1b[" in colored.stdout + colored.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_the_fork(octoc_words: list[str], tmp_path: Path, number: signal.Signals) -> None:
    """A fork gets the signals of the program that asked for it, and ends with that program."""
    folder = tmp_path / "ws"
    assert WorkspaceBuilder(folder, plugins={"use": ["transport-mcp"]}).agent("supervisor").build().bundle is not None
    words = [*octoc_words, "serve", "--transport", "http", "--port", "0", "--tokens", str(tmp_path / "tokens.json")]
    with subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert any("serving MCP at" in line for line in process.stderr)
        process.send_signal(number)
        assert "Traceback" not in process.stderr.read()  # until the fork, too, has ended
    assert process.returncode == (0 if number == signal.SIGTERM else -signal.SIGKILL)
