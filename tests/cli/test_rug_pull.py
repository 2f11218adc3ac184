"""Two released versions of one server under one name: what the later one changed is refused until it is approved."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from octoc.testing import WorkspaceBuilder

from .conftest import Run

OLDER = Path(__file__).with_name("data") / "mcp-server-git-2025.7.1.json"
"""What release 2025.7.1 of mcp-server-git lists, recorded by `octoc pin`; a later release is installed."""


def test_a_later_release_is_refused_tool_by_tool(
    octoc: Run, tmp_path: Path, python_server: Callable[[str], Path]
) -> None:
    """Pinned with one release and run with the next: changed tools are refused by rule, and approval brings one back.

    `git_show` changed its description too, and `git_init` is gone.
    """
    pins = {"breaking": "refuse", "widening": "refuse", "wording": "allow"}
    builder = WorkspaceBuilder(tmp_path, pins=pins, plugins={"use": ["transport-mcp"]}, mcp={"files": [".mcp.json"]})
    builder.server("git", str(python_server("mcp-server-git"))).write()
    here = ("--workspace", str(tmp_path))
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    assert octoc("pin", "git", "--from", str(OLDER), *here).status == 0
    assert octoc("build", *here).status == 0

    def call(tool: str) -> str:
        return str(octoc("call", "git", tool, json.dumps({"repo_path": str(tmp_path)}), *here).err)

    refused = call("git_log")
    assert "`git/git_log` differs from its pin and is refused: " in refused
    assert "parameter-added (widening)" in refused
    assert "`git/git_status` differs from its pin and is refused: " in call("git_status")
    assert "server `git` no longer has `git_init`" in call("git_init")
    checked = octoc("pin", "--check", "--yes", "--output-format", "concise", *here)
    assert checked.status == 1
    assert "breaking tool-removed git/git_init removed" in checked.out
    assert "breaking min-items-tightened git/git_add argument `files`: `minItems` is 1, was absent" in checked.out
    assert "widening parameter-added git/git_log argument `start_timestamp` added" in checked.out
    assert "wording description-changed git/git_show description changed" in checked.out
    assert octoc("pin", "--approve", "git/git_status", "--yes", *here).status == 0
    assert octoc("build", *here).status == 0
    assert octoc("call", "git", "git_status", json.dumps({"repo_path": str(tmp_path)}), *here).status == 0
    assert "`git/git_log` differs from its pin and is refused: " in call("git_log")
