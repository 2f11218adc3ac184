"""Findings over taps that were once missing or inexact."""

from pathlib import Path

import pytest

from octoc.bundle.reader import OpenBundle
from octoc.compiler.checkup.check import check_workspace
from octoc.compiler.lint.taps.letter_case import needs_capitals
from octoc.diagnostics.model import Diagnostic
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

PROVIDER = """# Title: Notes and files
# Description: Keeps notes for the office

[roles.mcp]
server_refs = ["notes"]
allowed_tools = ["notes:*"]

[[mcp.servers]]
name = "notes"
type = "stdio"
command = "notes-mcp"
args = {args}
timeout_seconds = {seconds}
tools = []
env = {{ {env} }}
"""
MANIFEST = """# Title: General helper
# Description: Helps with whatever comes up

capabilities = []

[[roles]]
system = "Help."
welcome = "Hello"
temperature = 0.2
top_p = 0.9
top_k = 0
"""


def _provider(seconds: int = 30, args: str = "[]", env: str = "") -> str:
    return PROVIDER.format(seconds=seconds, args=args, env=env)


def _found(builder: WorkspaceBuilder, code: str) -> list[Diagnostic]:
    return [one for one in check_workspace(builder.write()).diagnostics if one.rule.code == code]


@pytest.mark.parametrize(
    "expression",
    [r"\bAIDA\b", r"(?s)Foo", r"(?-i)Foo", r"(?i)(?-i:Foo)", r"((?i)foo)Bar", r"[A-Z]+", r"(Foo|bar)", r"\QFoo\E"],
)
def test_an_expression_that_wants_capitals(expression: str) -> None:
    """Capitals count where no flag of their group, class or alternative allows for small letters."""
    assert needs_capitals(expression)


@pytest.mark.parametrize(
    "expression",
    [
        *(r"(?i)\bAIDA\b", r"(?i:AIDA)x", r"x(?im)Foo", r"[Aa]ida", r"\br/[a-zA-Z0-9_]+", r"(AIDA|aida)", r"Foo|foo"),
        *(r"\S+\D\W", r"\p{Lu}x", r"(?P<Name>x)", r"\x{4A}", r"[^A-Z]", r"[[:upper:]]", r"((?i)Foo)bar"),
    ],
)
def test_an_expression_that_takes_small_letters(expression: str) -> None:
    """An expression that matches small letters as well, or has no letter of its own, wants no capitals."""
    assert not needs_capitals(expression)


def test_a_domain_of_no_agent_is_a_warning(tmp_path: Path) -> None:
    """A domain that no manifest's folder is called is reported with the near one; without any agent nothing is."""
    builder = WorkspaceBuilder(tmp_path, name="test").capability("notes", ["a b c"], domains=["ofice"], server="notes")
    builder.server("notes", "notes-mcp").skill("minutes", domains="office")
    assert _found(builder, "OCT494") == []
    (found,) = _found(builder.octomind_agent("office", "clerk"), "OCT494")
    assert found.message == "capability `notes` is for domain `ofice`, which no agent has"
    assert found.help == "did you mean `office`?"


@pytest.mark.parametrize(
    "path",
    ["agents/general.toml", "agents/office/team/general.toml", "capabilities/notes.toml", "capabilities/a/b/c.toml"],
)
def test_a_file_at_the_wrong_depth_is_a_warning(tmp_path: Path, path: str) -> None:
    """A manifest or provider that is not two folders deep is named, with the path where it would be read."""
    builder = WorkspaceBuilder(tmp_path).file(f"taps/local/{path}", MANIFEST).skill("minutes")
    (found,) = _found(builder, "OCT130")
    assert found.message.startswith(f"nothing reads `taps/local/{path}`: it is not at `taps/local/")


def test_files_beside_an_agent_md_may_be_anything(tmp_path: Path) -> None:
    """A folder with an AGENT.md may hold TOML files of its own."""
    agent = "---\nname: a\ndescription: Helps people\n---\nHelp.\n"
    builder = WorkspaceBuilder(tmp_path).file("agents/a/AGENT.md", agent).file("agents/a/data/x.toml", "")
    assert _found(builder, "OCT130") == []


def test_equal_definitions_with_other_time_outs_say_so(tmp_path: Path) -> None:
    """For definitions that differ only in their time-out, the finding names the time-outs."""
    builder = WorkspaceBuilder(tmp_path).skill("minutes")
    for name, seconds in (("a", 60), ("b", 240), ("c", 60)):
        builder.file(f"taps/local/capabilities/{name}/default.toml", _provider(seconds))
    (found,) = _found(builder, "OCT417")
    assert found.message == "3 files define server `notes` alike, with time-outs of 60 and 240 s"
    assert found.help == "give them one time-out, and change them together"


def test_advice_in_a_tap_is_octominds_placeholder(tmp_path: Path) -> None:
    """In a tap's file advice and fix write `{{ENV:X}}`, elsewhere `${X}`."""
    text = _provider(args='["--to", "$NOTES_TO"]', env='NOTES_TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"')
    builder = WorkspaceBuilder(tmp_path).skill("minutes")
    builder.file("taps/local/capabilities/notes/default.toml", text)
    (bare,) = _found(builder, "OCT440")
    assert bare.help == "write `{{ENV:NOTES_TO}}`"
    assert bare.fix is not None
    assert [edit.text for edit in bare.fix.edits] == ["{{ENV:NOTES_TO}}"]
    (secret,) = _found(builder, "OCT340")
    assert "write `{{ENV:NOTES_TOKEN}}` in its place" in (secret.help or "")
    other = WorkspaceBuilder(tmp_path / "other").server("notes", "notes-mcp", "$NOTES_TO")
    assert _found(other, "OCT440")[0].help == "write `${NOTES_TO}`"


def test_the_bundle_tells_left_out_servers_from_none(tmp_path: Path) -> None:
    """A capability whose only server is not defined is marked in the bundle; one that names no server is not."""
    text = _provider().partition("[[mcp.servers]]")[0]
    builder = WorkspaceBuilder(tmp_path).skill("minutes").file("taps/local/capabilities/notes/default.toml", text)
    builder.file("taps/local/capabilities/hollow/default.toml", "# Title: Hollow one\n")
    outcome = builder.build(plugins_of())
    assert outcome.bundle is not None
    with OpenBundle.open(outcome.bundle) as opened:
        assert {entry.name: entry.servers_left_out for entry in opened.bundle.capabilities} == {
            "notes": True,
            "hollow": False,
        }
