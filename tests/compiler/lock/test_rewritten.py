"""`--locked` and files whose text changed while the bundle stayed the same."""

from pathlib import Path

import attrs

from octoc.compiler.lock.compare import changes
from octoc.compiler.lock.content import LockContent, SettingsLock
from octoc.compiler.lock.scopes import AgentLock
from octoc.compiler.workspace.build import build
from octoc.diagnostics.rule import Severity
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

SERVERS = '[mcp_servers.notes]\ncommand = "python3"\nargs = ["servers/notes.py"]\n'


def _found(root: Path) -> list[tuple[str, Severity, str]]:
    """Return what a locked build says of files."""
    found = build(root, locked=True, plugins=plugins_of(), allow_degraded=True).diagnostics
    return [(one.rule.code, one.severity, one.message) for one in found if one.rule.code.startswith(("OCT5", "OCT6"))]


def test_a_text_that_compiles_to_the_same_bundle_does_not_fail_a_locked_build(tmp_path: Path) -> None:
    """A comment and a client's own settings are information; a definition and a program that changed are errors."""
    client, program = tmp_path / ".codex/config.toml", tmp_path / "servers/notes.py"
    builder = WorkspaceBuilder(tmp_path, plugins={"use": []}, mcp={"files": [".codex/config.toml"]})
    builder.file(".codex/config.toml", SERVERS).file("servers/notes.py", "print(1)\n").write()
    assert build(tmp_path, plugins=plugins_of(), allow_degraded=True).bundle is not None
    client.write_text(f'# A comment.\nmodel = "gpt"\n{SERVERS}', encoding="utf-8")
    text = "file `.codex/config.toml` changed, and what is compiled from it did not"
    assert _found(tmp_path) == [("OCT505", Severity.INFO, text)]
    program.write_text("print(2)\n", encoding="utf-8")
    names = (".codex/config.toml", "servers/notes.py")
    assert _found(tmp_path) == [("OCT505", Severity.ERROR, f"file `{name}` changed") for name in names]
    program.write_text("print(1)\n", encoding="utf-8")
    client.write_text(f"{SERVERS}enabled_tools = []\n", encoding="utf-8")
    assert {severity for _, severity, _ in _found(tmp_path)} == {Severity.ERROR}


def test_an_agents_line_names_a_server_once() -> None:
    """A server without a snapshot is among an agent's tools and its offers, and is reported once."""
    before = AgentLock(tools=0, digest="a")
    after = attrs.evolve(before, digest="b", reach=("absent/*",), offers=("absent/*",))
    locks = [LockContent(settings=SettingsLock(digest="", values={}), agents={"a": one}) for one in (before, after)]
    assert [change.text for change in changes(*locks)] == ["agent `a`: reaches `absent/*`"]


def test_an_agents_line_tells_offers_of_a_server_from_its_tools() -> None:
    """An agent that reached a server's tools before is not said to reach them anew when it gets its resources."""
    before = AgentLock(tools=2, digest="a", reach=("time/*",))
    after = attrs.evolve(before, digest="b", offers=("time/*",))
    locks = [LockContent(settings=SettingsLock(digest="", values={}), agents={"a": one}) for one in (before, after)]
    assert [change.text for change in changes(*locks)] == ["agent `a`: reaches resources and prompts of `time`"]
    assert [change.text for change in changes(*reversed(locks))] == [
        "agent `a`: no longer resources and prompts of `time`"
    ]
