"""`octoc check --fix` and `--diff` on files of every format."""

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc.testing import WorkspaceBuilder

Run = Callable[..., Any]

OCTOC_TOML = '[workspace]\nname = "w"\n\n[[taps]]\nname = "acme"\npath = "taps/acme"\n'
CONFIG = 'triggers = ["what time is it"]\n'
PROVIDER = """\
# Title: Time
# Description: Clocks and time zones of the whole world.

[roles.mcp]
server_refs = ["time"]  # ours
allowed_tools = ["time:*"]

[[mcp.servers]]
name = "time"
type = "stdio"
command = "uvx"
args = ["mcp-server-time==2026.8.31"]
timeout_seconds = 30
tools = []
"""
SKILL = "---\nname: clock\ntitle: Clock\ndescription: Tells the time in any zone.\ncapabilities: [time]\n---\nUse it.\n"
SNAPSHOT = json.dumps(
    {
        "server": "time",
        "definition": "sha256:0",
        "package": "mcp-server-time==2026.8.31",
        "serverInfo": {},
        "protocolVersion": "",
        "instructions": None,
        "tools": [{"name": "convert_time", "description": "Converts.", "inputSchema": {"type": "object"}}],
    }
)
SOUND = {
    "octoc.toml": OCTOC_TOML,
    "taps/acme/capabilities/time/config.toml": CONFIG,
    "taps/acme/capabilities/time/default.toml": PROVIDER,
    "taps/acme/skills/clock/SKILL.md": SKILL,
}
CONFIG_AT = "taps/acme/capabilities/time/config.toml"
PROVIDER_AT = "taps/acme/capabilities/time/default.toml"
SKILL_AT = "taps/acme/skills/clock/SKILL.md"
MCP = '{"mcpServers": {"a": {"type": "http", "url": "https://a.example/mcp", "headers": {"X-Team": "red"}}}}\n'
AGENT = "---\nname: helper\ndescription: Helps with clocks.  # kept\n---\nBe helpful.\n"

# name -> other files, the file that is fixed, what is wrong in it, what stands there afterwards, the rule
CASES: dict[str, tuple[Mapping[str, str], str, str, str, str]] = {
    "a url gets its type": ({}, ".mcp.json", MCP.replace('"type": "http", ', ""), MCP, "OCT224"),
    "a near field of .mcp.json": ({}, ".mcp.json", MCP.replace('"headers"', '"haeders"'), MCP, "OCT208"),
    "a near key of octoc.toml": (
        {},
        "octoc.toml",
        OCTOC_TOML.replace('name = "w"', 'nmae = "w"'),
        OCTOC_TOML,
        "OCT201",
    ),
    "a near value of octoc.toml": (
        {},
        "octoc.toml",
        OCTOC_TOML + '[aliases]\nstyle = "qualifed" # as before\n',
        OCTOC_TOML + '[aliases]\nstyle = "qualified" # as before\n',
        "OCT204",
    ),
    "a near capability in [providers]": (
        {},
        "octoc.toml",
        OCTOC_TOML + '[providers]\ntiem = "default"\n',
        OCTOC_TOML + '[providers]\ntime = "default"\n',
        "OCT304",
    ),
    "a near provider": (
        {},
        "octoc.toml",
        OCTOC_TOML + '[providers]\ntime = "defualt"\n',
        OCTOC_TOML + '[providers]\ntime = "default"\n',
        "OCT302",
    ),
    "the old name of a key": (
        {},
        "octoc.toml",
        OCTOC_TOML + '[routing]\npinned = ["time"] # always\n',
        OCTOC_TOML + '[routing]\nkeep = ["time"] # always\n',
        "OCT740",
    ),
    "a near key of front matter": (
        {},
        "agents/helper/AGENT.md",
        AGENT.replace("description", "descripton"),
        AGENT,
        "OCT202",
    ),
    "a near capability of a skill": ({}, SKILL_AT, SKILL.replace("[time]", "[tiem]"), SKILL, "OCT304"),
    "a near server of a pattern": ({}, PROVIDER_AT, PROVIDER.replace("time:*", "tiem:*"), PROVIDER, "OCT320"),
    "a near server reference": (
        {},
        PROVIDER_AT,
        PROVIDER.replace('server_refs = ["time"]', 'server_refs = ["tiem", "time"]'),
        PROVIDER.replace('server_refs = ["time"]', 'server_refs = ["time", "time"]'),
        "OCT301",
    ),
    "a near tool": (
        {"snapshots/time.json": SNAPSHOT},
        PROVIDER_AT,
        PROVIDER.replace("time:*", "time:covnert_time"),
        PROVIDER.replace("time:*", "time:convert_time"),
        "OCT321",
    ),
    "the version that a snapshot knows": (
        {"snapshots/time.json": SNAPSHOT},
        PROVIDER_AT,
        PROVIDER.replace("time==2026.8.31", "time"),
        PROVIDER,
        "OCT402",
    ),
}


def _write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def _codes_in(octoc: Run, folder: Path, file: str) -> list[str]:
    found = json.loads(octoc("check", "--workspace", str(folder), "--json").out)
    return [each["code"] for each in found if each["file"] == file]


@pytest.mark.parametrize("name", CASES)
def test_a_fix_changes_what_is_meant_and_nothing_else(octoc: Run, tmp_path: Path, name: str) -> None:
    """The file is what it would have been without the slip, byte for byte; a second run changes nothing."""
    others, at, before, after, code = CASES[name]
    _write(tmp_path, {**SOUND, **others, at: before})
    assert code in _codes_in(octoc, tmp_path, at)
    octoc("check", "--workspace", str(tmp_path), "--fix")
    assert (tmp_path / at).read_text(encoding="utf-8") == after
    assert code not in _codes_in(octoc, tmp_path, at)
    again = octoc("check", "--workspace", str(tmp_path), "--fix")
    assert "nothing to fix" in again.err
    assert (tmp_path / at).read_text(encoding="utf-8") == after


@pytest.mark.parametrize("name", CASES)
def test_a_diff_writes_nothing(octoc: Run, tmp_path: Path, name: str) -> None:
    """`--diff` shows the lines that `--fix` would change, and leaves the file."""
    others, at, before, after, _ = CASES[name]
    _write(tmp_path, {**SOUND, **others, at: before})
    shown = octoc("check", "--workspace", str(tmp_path), "--diff").out.splitlines()
    assert (tmp_path / at).read_text(encoding="utf-8") == before
    changed = [(old, new) for old, new in zip(before.split("\n"), after.split("\n"), strict=True) if old != new]
    assert [line for line in shown if line.startswith("-") and not line.startswith("---")] == [
        f"-{old}" for old, _ in changed
    ]
    assert [line for line in shown if line.startswith("+") and not line.startswith("+++")] == [
        f"+{new}" for _, new in changed
    ]


def test_tabs_are_tabs_in_a_diff(octoc: Run, tmp_path: Path) -> None:
    """A diff of a file that is indented with tabs shows them as they are."""
    text = '{\n\t"mcpServers": {\n\t\t"a": {"url": "https://a.example/mcp"}\n\t}\n}\n'
    _write(tmp_path, {".mcp.json": text})
    shown = octoc("check", "--workspace", str(tmp_path), "--diff").out.splitlines()
    assert '-\t\t"a": {"url": "https://a.example/mcp"}' in shown
    assert ' \t"mcpServers": {' in shown


def test_byte_order_mark_line_ends_and_mode_stay(octoc: Run, tmp_path: Path) -> None:
    """A file with a byte-order mark, CRLF, no newline at its end and a mode of its own keeps them all."""
    before = b'\xef\xbb\xbf{\r\n  "mcpServers": {\r\n    "\xc3\xa9": {"url": "https://a.example/mcp"}\r\n  }\r\n}'
    _write(tmp_path, {".mcp.json": before})
    (tmp_path / ".mcp.json").chmod(0o600)
    octoc("check", "--workspace", str(tmp_path), "--fix")
    after = (tmp_path / ".mcp.json").read_bytes()
    assert after == before.replace(b'{"url"', b'{"type": "http", "url"')
    assert stat.S_IMODE((tmp_path / ".mcp.json").stat().st_mode) == 0o600


def test_a_linked_file_is_fixed_where_it_is(octoc: Run, tmp_path: Path) -> None:
    """A fix changes the target of a link, and the link stays a link."""
    _write(tmp_path, {"mcp/real.json": MCP.replace('"type": "http", ', "")})
    (tmp_path / ".mcp.json").symlink_to("mcp/real.json")
    octoc("check", "--workspace", str(tmp_path), "--fix")
    assert (tmp_path / ".mcp.json").is_symlink()
    assert (tmp_path / "mcp/real.json").read_text(encoding="utf-8") == MCP


def test_a_tap_outside_the_workspace_is_not_fixed(octoc: Run, tmp_path: Path) -> None:
    """A fix for a file outside the workspace is not applied, and a line counts such fixes."""
    tap = {name.removeprefix("taps/acme/"): content for name, content in SOUND.items() if name.startswith("taps")}
    wrong = SKILL.replace("[time]", "[tiem]")
    _write(tmp_path / "shared", {**tap, "skills/clock/SKILL.md": wrong})
    _write(tmp_path / "w", {"octoc.toml": OCTOC_TOML.replace("taps/acme", "../shared")})
    done = octoc("check", "--workspace", str(tmp_path / "w"), "--fix")
    assert (tmp_path / "shared/skills/clock/SKILL.md").read_text(encoding="utf-8") == wrong
    assert "1 more could be fixed in files outside this folder: OCT304" in done.err


def test_a_link_stays_a_link_and_the_diff_names_the_file(octoc: Run, tmp_path: Path) -> None:
    """Where `default.toml` links to the provider that is fixed, the diff names the provider, and the link stays."""
    local = PROVIDER_AT.replace("default", "local")
    wrong = PROVIDER.replace("time:*", "tiem:*")
    _write(tmp_path, {**{name: text for name, text in SOUND.items() if name != PROVIDER_AT}, local: wrong})
    (tmp_path / PROVIDER_AT).symlink_to("local.toml")
    done = octoc("check", "--workspace", str(tmp_path), "--diff")
    assert f"--- a/{local}\n" in done.out
    assert PROVIDER_AT not in done.out
    octoc("check", "--workspace", str(tmp_path), "--fix")
    assert (tmp_path / PROVIDER_AT).is_symlink()
    assert (tmp_path / local).read_text(encoding="utf-8") == PROVIDER


def test_a_copied_default_stays_a_copy(octoc: Run, tmp_path: Path) -> None:
    """Where `default.toml` is a copy of the provider that is fixed, it is so afterwards, and nothing is left to fix."""
    wrong = PROVIDER.replace("time:*", "tiem:*")
    _write(tmp_path, {**SOUND, PROVIDER_AT: wrong, PROVIDER_AT.replace("default", "local"): wrong})
    octoc("check", "--workspace", str(tmp_path), "--fix")
    for name in (PROVIDER_AT, PROVIDER_AT.replace("default", "local")):
        assert (tmp_path / name).read_text(encoding="utf-8") == PROVIDER
    assert "nothing to fix" in octoc("check", "--workspace", str(tmp_path), "--fix").err


def test_exit_status_counts_what_remains(octoc: Run, tmp_path: Path) -> None:
    """`--fix` ends with 0 when it fixes every error, `--diff` with 1 as long as they are there."""
    _write(tmp_path, {**SOUND, SKILL_AT: SKILL.replace("[time]", "[tiem]")})
    assert octoc("check", "--workspace", str(tmp_path), "--diff").status == 1
    assert octoc("check", "--workspace", str(tmp_path), "--fix").status == 0


def test_only_the_named_path_is_fixed(octoc: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a PATH in a workspace, what lies elsewhere is neither shown nor fixed."""
    _write(
        tmp_path,
        {**SOUND, SKILL_AT: SKILL.replace("[time]", "[tiem]"), ".mcp.json": MCP.replace('"type": "http", ', "")},
    )
    monkeypatch.chdir(tmp_path)
    octoc("check", ".mcp.json", "--fix")
    assert (tmp_path / ".mcp.json").read_text(encoding="utf-8") == MCP
    assert "[tiem]" in (tmp_path / SKILL_AT).read_text(encoding="utf-8")


def test_a_secret_is_masked_in_a_diff(octoc: Run, tmp_path: Path) -> None:
    """A line of a diff that holds a secret is shown without it."""
    secret = "sk-" + "abcdefghij0123456789"
    server = {"url": "https://a.example/mcp", "headers": {"Authorization": f"Bearer {secret}"}}
    _write(tmp_path, {".mcp.json": json.dumps({"mcpServers": {"a": server}})})
    done = octoc("check", "--workspace", str(tmp_path), "--diff")
    assert '"type": "http"' in done.out
    assert secret not in done.out + done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="this user may write everywhere")
def test_a_folder_that_cannot_be_written_is_said(octoc: Run, tmp_path: Path) -> None:
    """When a file cannot be written none is, and the command says why."""
    _write(tmp_path, {".mcp.json": MCP.replace('"type": "http", ', "")})
    tmp_path.chmod(0o500)
    done = octoc("check", "--workspace", str(tmp_path), "--fix")
    tmp_path.chmod(0o700)
    assert done.status == 1
    assert "nothing was fixed" in done.err


def test_names_without_a_safe_choice_are_to_be_fixed_by_hand(octoc: Run, tmp_path: Path) -> None:
    """`--fix` counts them; a tool is suggested as the file writes tools, and a denial names the file's own key."""
    builder = WorkspaceBuilder(tmp_path).server("git", "git-mcp").snapshot("git", ["git_diff", "git_log"])
    builder.agent("rev", tools="mcp__git__git_log, mcp__git__git_dlog")
    builder.file("scopes/deny.toml", '[[deny]]\nagents = ["rev"]\ntools = ["git/git_log"]\n').write()
    done = octoc("check", "--workspace", str(tmp_path), "--fix")
    assert "nothing to fix\n1 finding suggests a name without a safe choice: fix by hand, OCT321 at agents/" in done.err
    assert "did you mean `mcp__git__git_log`" in done.out
    assert "help: remove it from `tools` of the agent's file, or " in done.out
