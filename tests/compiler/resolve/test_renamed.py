"""Names of servers that are defined more than once."""

from __future__ import annotations

import json
from pathlib import Path

from octoc.compiler.workspace.build import resolve_workspace


def test_every_further_definition_gets_a_name_without_spaces(tmp_path: Path) -> None:
    """Each is called after its file, in characters that a name may have, and numbered where two files are alike."""
    files = [".mcp.json", "a/my tools.json", "b/my tools.json", "c/my tools.json"]
    (tmp_path / "octoc.toml").write_text(f'[workspace]\nname = "acme"\n[mcp]\nfiles = {json.dumps(files)}\n', "utf-8")
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"mcpServers": {"time": {"command": path.parent.name}}}), "utf-8")
    build, _, _ = resolve_workspace(tmp_path)
    assert build is not None
    assert [server.name for server in build.resolved.servers] == [
        "time",
        "time-my-tools",
        "time-my-tools-2",
        "time-my-tools-3",
    ]
