"""The workspace's own files: agents, MCP files and snapshots; and one file's mistake never hides another's."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.registry import FileKinds
from octoc.compiler.model.settings import LimitSettings
from octoc.compiler.read.stage import input_digests

Write = Callable[[Mapping[str, str]], Path]
Find = Callable[..., Any]

AGENT = "---\nname: a\ndescription: d\n---\nText"
WORKSPACE = {
    ".mcp.json": '{"mcpServers": {}}',
    "agents/flat.md": AGENT,
    "agents/AGENTS.md": "instructions, and no agent",
    "agents/README.md": "for people",
    "agents/lead/AGENT.md": AGENT,
    "agents/lead/notes.md": "no agent",
    "agents/developer/general.toml": "[[roles]]\n",
    ".claude/agents/one.md": AGENT,
    ".claude/agents/team/deep/two.md": AGENT,
    "snapshots/time.json": "{}",
    "snapshots/notes.txt": "x",
}


def test_files_come_in_the_order_of_the_settings_and_of_paths(write: Write, find: Find) -> None:
    """MCP files, agents of each folder in turn, snapshots: each with its dialect."""
    found = find(write(WORKSPACE))
    assert [(str(file.kind), file.display, file.dialect.name) for file in found.discovered.files] == [
        ("mcp", ".mcp.json", "claude"),
        ("agent-md", "agents/README.md", "octo"),
        ("agent-manifest", "agents/developer/general.toml", ""),
        ("agent-md", "agents/flat.md", "octo"),
        ("agent-md", "agents/lead/AGENT.md", "octo"),
        ("agent-md", ".claude/agents/one.md", "claude"),
        ("agent-md", ".claude/agents/team/deep/two.md", "claude"),
        ("snapshot", "snapshots/time.json", ""),
    ]
    assert found.findings == ["OCT116 agents/README.md: `agents/README.md` has no front matter, so it defines no agent"]
    assert len(found.documents.documents) == 7


def test_folders_that_the_user_lists_are_read_in_that_order(write: Write, find: Find) -> None:
    """A listed `.octo/agents` and `.octo/.mcp.json` are read, and a file that two folders reach is read once."""
    root = write(WORKSPACE | {".octo/agents/scout/AGENT.md": AGENT, ".octo/.mcp.json": "{}", ".vscode/mcp.json": "{}"})
    found = find(
        root,
        agent_paths=(".octo/agents", ".claude/agents/team", ".claude/agents"),
        mcp_files=(".vscode/mcp.json", ".octo/.mcp.json"),
    )
    assert [(file.display, file.dialect.name) for file in found.discovered.files][:-1] == [
        (".vscode/mcp.json", "vscode"),
        (".octo/.mcp.json", "claude"),
        (".octo/agents/scout/AGENT.md", "octo"),
        (".claude/agents/team/deep/two.md", "claude"),
        (".claude/agents/one.md", "claude"),
    ]


@pytest.mark.parametrize(
    "path,dialect",
    [
        (".mcp.json", "claude"),
        ("sub/.vscode/mcp.json", "vscode"),
        (".cursor/mcp.json", "cursor"),
        ("x/claude_desktop_config.json", "claude-desktop"),
        ("mcp.json", "any"),
        ("servers.json", "claude"),
    ],
)
def test_the_path_of_an_mcp_file_tells_its_dialect(path: str, dialect: str) -> None:
    """Each client's file is known by its folder or name; any other is Claude Code's."""
    assert FileKinds().dialect_of(MCP, PurePosixPath(path)).name == dialect


def test_paths_that_are_defaults_may_be_absent_and_paths_that_are_written_may_not(write: Write, find: Find) -> None:
    """An empty workspace is silent; a written path that is missing, or of the wrong kind, is an error."""
    root = write({"octoc.toml": "", "file.md": AGENT, "folder/x": "x"})
    assert find(root).findings == []
    assert find(root, agent_paths=("agents", "file.md"), mcp_files=("gone.json", "folder")).findings == [
        "OCT121 octoc.toml: `agents` is not there",
        "OCT121 octoc.toml: `file.md` is a file, expected a folder",
        "OCT121 octoc.toml: `folder` is a folder, expected a file",
        "OCT121 octoc.toml: `gone.json` is not there",
    ]


def test_nothing_outside_the_workspace_is_read(write: Write, find: Find) -> None:
    """Paths and links that lead out are errors, whether `..`, absolute, or a link in a folder."""
    root = write({".mcp.json": "-> ../outside.json", ".claude/agents/all": "-> ../../..", "agents": "-> ../out"})
    write({"../outside.json": "{}", "../out/a.md": AGENT})
    found = find(
        root, agent_paths=("agents", ".claude/agents"), mcp_files=(".mcp.json", "../outside.json", "/etc/hosts")
    )
    assert found.discovered.files == ()
    assert found.findings == [
        "OCT123 .claude/agents/all: `.claude/agents/all` leads out of the workspace",
        "OCT123 octoc.toml: `../outside.json` leads out of the workspace",
        "OCT123 octoc.toml: `.mcp.json` leads out of the workspace",
        "OCT123 octoc.toml: `/etc/hosts` leads out of the workspace",
        "OCT123 octoc.toml: `agents` leads out of the workspace",
    ]


def test_a_workspace_that_is_a_tap_itself_leaves_its_files_to_the_tap(write: Write, find: Find) -> None:
    """An agent manifest that both would claim is the tap's, once."""
    found = find(write({"agents/developer/general.toml": "a = 1\n", "agents/x.md": AGENT}), ".")
    assert [(file.display, file.tap) for file in found.discovered.files] == [
        ("agents/x.md", None),
        ("agents/developer/general.toml", "tap0"),
    ]


def test_the_order_of_a_folder_does_not_matter(write: Write, find: Find, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that lists in another order gives the same product."""
    root = write(WORKSPACE)
    expected = find(root)
    real = os.scandir

    class Reversed:
        def __init__(self, path: Any) -> None:
            with real(path) as found:
                self.entries = sorted(found, key=lambda entry: entry.name, reverse=True)

        def __enter__(self) -> Any:
            return iter(self.entries)

        def __exit__(self, *_: object) -> None:
            return

    monkeypatch.setattr(os, "scandir", Reversed)
    again = find(root)
    assert again.documents == expected.documents
    assert again.findings == expected.findings


def test_one_files_mistake_never_hides_another(write: Write, find: Find) -> None:
    """Every broken file has its own finding, the sound ones are read, and all that were opened have a digest."""
    root = write(
        WORKSPACE | {f"agents/bad{n}/AGENT.md": text for n, text in enumerate(["", "x", "---\n", "---\n[\n---\n"])}
    )
    (root / "agents/bin.md").write_bytes(b"---\x00")
    (root / "agents/wide.md").write_bytes(AGENT.encode("utf-16"))
    (root / ".claude/agents/big.md").write_text(AGENT + "x" * 5000)
    (root / ".claude/agents/gone.md").symlink_to("nowhere.md")
    found = find(root, limits=LimitSettings(max_file_bytes=4000))
    assert [line.split(": ")[0] for line in found.findings] == [
        "OCT102 .claude/agents/big.md",
        "OCT122 .claude/agents/gone.md",
        "OCT116 agents/README.md",
        "OCT105 agents/bad0/AGENT.md",
        "OCT116 agents/bad1/AGENT.md",
        "OCT113 agents/bad2/AGENT.md",
        "OCT114 agents/bad3/AGENT.md",
        "OCT104 agents/bin.md",
        "OCT103 agents/wide.md",
    ]
    assert len(found.documents.documents) == 7
    assert set(found.documents.digests) == {file.display for file in found.discovered.files} - {".claude/agents/big.md"}
    assert input_digests(found.discovered) == found.documents.digests


def test_a_snapshot_has_a_limit_of_its_own(write: Write, find: Find) -> None:
    """What is too large for an authored file may be a snapshot."""
    root = write({"snapshots/a.json": '{"x": "' + "y" * 5000 + '"}'})
    assert find(root, limits=LimitSettings(max_file_bytes=10)).findings == []
    assert [line[:6] for line in find(root, limits=LimitSettings(max_snapshot_bytes=10)).findings] == ["OCT102"]


def test_names_that_cannot_be_shown_are_left_out(write: Write, find: Find) -> None:
    """A file name with control characters or undecodable bytes is reported in a form that can be printed."""
    root = write({"agents/a.md": AGENT})
    Path(os.fsdecode(os.fsencode(root) + b"/agents/\xff.md")).write_text(AGENT)
    (root / "agents/x\ny.md").write_text(AGENT)
    found = find(root)
    assert [file.display for file in found.discovered.files] == ["agents/a.md"]
    assert [line[:13] for line in found.findings] == ["OCT126 agents", "OCT126 agents"]
    assert all(line.isprintable() for line in found.findings)
