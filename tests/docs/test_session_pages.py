"""The sessions on the pages about checks, locks, pins, taps and trust: their commands print what the pages show."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.check import check_workspace
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder, stdio_script
from tests.docs.transcripts import says

Run = Callable[..., Any]
DOCS = Path(__file__).resolve().parents[2] / "docs"
SERVER = stdio_script("def tools():\n    return json.loads(Path(sys.argv[1]).read_text())\n")
PROGRAM = '#!/bin/sh\ncat "$0.txt"\n'


def blocks(page: str, language: str) -> list[str]:
    """Return the fenced blocks of a page in one language."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def play(octoc: Run, session: str) -> None:
    """Run the commands of a session; what the page shows of one is what it prints. `octoc serve` is not started."""
    for entry in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = entry.partition("\n")
        if command.startswith("octoc serve"):
            continue
        done = octoc(*shlex.split(command)[1:])
        assert not shown or says(shown, done.out), f"{command}\n{done.out}{done.err}"
        assert done.status == 0 or shown, f"{command}\n{done.out}{done.err}"


def tool(name: str, description: str, *required: str) -> dict[str, Any]:
    """Return a tool as a server lists it, whose arguments are texts."""
    properties = {key: {"type": "string"} for key in required}
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": properties, "required": [*required]},
    }


@pytest.fixture
def builder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkspaceBuilder:
    """A workspace `acme`, which is the working directory."""
    root = tmp_path / "workspace"
    root.mkdir()
    monkeypatch.chdir(root)
    return WorkspaceBuilder(root, name="acme", routing={"encoder": "none"})


def test_the_session_of_pins(octoc: Run, builder: WorkspaceBuilder) -> None:
    """A server whose tools changed is recorded again, with the changes that the page shows."""
    place = builder.root.parent
    (place / "server.py").write_text(SERVER, encoding="utf-8")
    listing = place / "github.json"
    builder.settings("plugins", use=["transport-mcp"])
    builder.server("github", sys.executable, str(place / "server.py"), str(listing)).write()
    other = tool("get_me", "Who you are")
    listing.write_text(json.dumps([tool("create_issue", "Opens", "title"), tool("list_issues", "Lists"), other]))
    assert octoc("pin", "--yes").status == 0
    changed = tool("create_issue", "Opens", "title", "owner")
    listing.write_text(json.dumps([changed, tool("list_issues", "Lists all"), other]))
    play(octoc, blocks("pins", "console")[0])


def test_the_session_of_locks(octoc: Run, builder: WorkspaceBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages of both registries are locked as the page shows, and the lock has the keys of its excerpt."""
    programs = builder.root.parent / "bin"
    programs.mkdir()
    hashes = "".join(f" \\\n    --hash=sha256:{one * 64}" for one in "ab")
    answers = {
        "uv": f"mcp-server-time==2026.10.19{hashes}\n",
        "npm": '{"version": "1.10.0", "dist.integrity": "sha512-bb=="}',
    }
    for name, answer in answers.items():
        (programs / name).write_text(PROGRAM, encoding="utf-8")
        (programs / name).chmod(0o755)
        (programs / f"{name}.txt").write_text(answer, encoding="utf-8")
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    builder.server("time", "uvx", "mcp-server-time").server("web", "npx", "-y", "@acme/web").write()
    play(octoc, blocks("lock", "console")[0])
    (excerpt,) = blocks("lock", 'toml title="octoc.lock"')
    shown = tomllib.loads(excerpt)["servers"]["time"]
    kept = tomllib.loads((builder.root / "octoc.lock").read_text(encoding="utf-8"))["servers"]["time"]
    assert set(shown) <= set(kept)
    assert all(kept[key] == shown[key] for key in ("package", "spec", "version"))


def test_the_session_of_taps(
    octoc: Run, builder: WorkspaceBuilder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tap is added from its address at the newest version in the range, and the build locks it."""
    published = tmp_path / "published"
    skill = published / "skills" / "minutes" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: minutes\ndescription: How to write minutes\n---\n\nIn past tense.\n", encoding="utf-8")
    author = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    for words in (
        ["init", "--quiet"],
        ["add", "."],
        ["commit", "--quiet", "-m", "a"],
        ["tag", "v1.4.0"],
        ["tag", "v2.0.0"],
    ):
        subprocess.run(["git", "-C", str(published), *author, *words], check=True)
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{published}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://git.acme.example/tools.git")
    builder.write()
    play(octoc, blocks("taps", "console")[0])
    (shown,) = tomllib.loads(blocks("taps", "toml")[0])["taps"]
    (added,) = tomllib.loads((builder.root / "octoc.toml").read_text(encoding="utf-8"))["taps"]
    assert added == {key: shown[key] for key in added}


def test_the_session_of_trust(octoc: Run, builder: WorkspaceBuilder) -> None:
    """A key is made, signs, and verifies as the page shows."""
    builder.write()
    play(octoc, blocks("trust", "console")[0])


def test_the_session_of_checks(octoc: Run, builder: WorkspaceBuilder) -> None:
    """Each command of the page has something to check, and finds nothing wrong."""
    servers = '{"mcpServers": {"docs": {"type": "http", "url": "https://docs.example/mcp"}}}'
    agent = "---\nname: a\ndescription: Answers.\n---\nAnswer.\n"
    files = {"servers.txt": servers, ".mcp.json": servers, "agents/a.md": agent}
    for path, text in files.items():
        builder.file(path, text)
    builder.write()
    for line in blocks("check", "console")[0].splitlines():
        done = octoc(*shlex.split(line, comments=True)[1:])
        assert done.status == 0, f"{line}\n{done.out}{done.err}"


def test_the_rule_of_a_plugin(builder: WorkspaceBuilder) -> None:
    """The plugin of the page reports a server without a region, and none that has one."""
    program = builder.root.parent / "acme.py"
    module: dict[str, Any] = {"__file__": str(program)}
    exec(blocks("check", "python")[0], module)  # noqa: S102  # the project's own page
    plugin = type("Acme", (), {"octoc_lint_rules": staticmethod(module["octoc_lint_rules"])})
    builder.settings("plugins", use=["acme"])
    builder.server("near", "near-mcp", env={"REGION": "eu"}).server("far", "far-mcp").write()
    found = check_workspace(builder.root, plugins=plugins_of(plugin()), use_cache=False).diagnostics
    assert [one.message for one in found if one.rule.code == "ACME001"] == ["server `far` has no region"]
