"""References to secrets that are kept elsewhere pass through the compiler unchanged and unread."""

import json
from pathlib import Path

import pytest

from octoc.bundle.reader import OpenBundle
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

PLANTED = "planted-value-7c1f"


def test_they_stay_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bundle and the lock have the reference, relative to the workspace, and not what the file holds."""
    root = tmp_path / "acme"
    monkeypatch.setenv("OCTOC_CREDENTIAL_7", PLANTED)
    env = {
        "A_TOKEN": f"${{file:{root}/token}}",
        "B_TOKEN": "${file:token}",
        "C_TOKEN": "${keyring:acme/me}",
        "D_TOKEN": "${cred:7}",
    }
    builder = WorkspaceBuilder(root).server("a", "run", env=env).file("token", PLANTED)
    builder.capability("notes", ["take a note"], server={"name": "n", "command": "run", "env": env})
    outcome = builder.build(plugins_of())
    # What a tap takes of the machine is reported; a literal secret or an unset variable is not found.
    findings = [diagnostic for diagnostic in outcome.diagnostics if "TOKEN" in diagnostic.message]
    assert {(finding.rule.code, "server `n`" in finding.message) for finding in findings} == {("OCT308", True)}
    assert outcome.bundle is not None
    opened = OpenBundle.open(outcome.bundle)
    try:
        server = next(one for one in opened.bundle.servers if one.name == "a")
        assert server.env == {**env, "A_TOKEN": "${file:${workspaceFolder}/token}"}
        assert [one.requires_env for one in opened.bundle.capabilities] == [()]
    finally:
        opened.close()
    made = [path for path in root.rglob("*") if path.is_file() and path.name != "token"]
    assert made
    assert not [path for path in made if PLANTED.encode() in path.read_bytes()]
    assert "${file:token}" in json.dumps(server.env)
