"""Severities that a scan lowers: in examples, in templates, and for keys that many files have."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget

BROKEN = '{"mcpServers": {"a": {"command": "a-mcp"}'
GONE = "@modelcontextprotocol/server-fetch"
TOKEN = "fc-" + "5e1d0c7a94b2f8361c0e7d95a3b8f246"
SLIP = "---\nname: {name}\ndescription: Builds\nuser_invocable: true\n---\nBuild it.\n"


def severities(root: Path, files: Mapping[str, str], code: str) -> list[str]:
    """Write `files`, check the folder, and return the severities of a rule's findings."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    outcome = check_target(CheckTarget(root=root, folder=root), use_cache=False)
    return [one.severity.label for one in outcome.diagnostics if one.rule.code == code]


@pytest.mark.parametrize(
    "path, severity",
    [
        (".mcp.json", "error"),
        ("plugins/docs/.mcp.json", "error"),
        ("docs/setup/.mcp.json", "warning"),
        ("clients/mcp.example.json", "warning"),
        ("plugins/acme/examples/.cursor/mcp.json", "warning"),
    ],
)
def test_a_broken_example_is_a_warning(tmp_path: Path, path: str, severity: str) -> None:
    """A file in a folder of examples, or called one, has its mistakes one severity lower; names of plugins do not."""
    assert severities(tmp_path, {path: BROKEN}, "OCT107") == [severity]


@pytest.mark.parametrize("name", ["_reviewer.template.md", "_Agent.md", "template-agent.md", "reviewer.template.md"])
def test_a_template_has_only_information(tmp_path: Path, name: str) -> None:
    """Placeholders in brackets are lists to YAML, and no mistakes in a file that someone fills in."""
    text = "---\nname: [agent-name]\ndescription: [what it does]\n---\nText.\n"
    found = severities(tmp_path, {f".claude/agents/{name}": text}, "OCT203")
    assert set(found) == {"info"}
    assert severities(tmp_path, {".claude/agents/reviewer.md": text}, "OCT203").count("error") == len(found)


@pytest.mark.parametrize("count, severity", [(4, "warning"), (5, "info")])
def test_a_key_that_many_files_have_is_the_owner_s_own(tmp_path: Path, count: int, severity: str) -> None:
    """A key near a known one in one file is a slip, and in many files what another program of the owner reads."""
    files = {f".claude/skills/s{number}/SKILL.md": SLIP.format(name=f"s{number}") for number in range(count)}
    assert severities(tmp_path, files, "OCT208") == [severity] * count


def test_values_without_quotes_matter_in_skills_alone(tmp_path: Path) -> None:
    """Claude Code writes the descriptions of agents so; skills are read by clients that refuse them."""
    text = "---\nname: {name}\ndescription: Use it for: reviews\n---\nText.\n"
    files = {".claude/agents/a.md": text.format(name="a"), ".claude/skills/b/SKILL.md": text.format(name="b")}
    other = {".cursor/mcp.json": '{"mcpServers": {}}'}
    assert severities(tmp_path, files | other, "OCT115") == ["info", "warning"]


def test_a_folder_that_a_generator_fills_in_is_a_template(tmp_path: Path) -> None:
    """Its files become JSON when a program replaces the text in braces."""
    assert severities(tmp_path, {"{{cookiecutter.slug}}/.mcp.json": BROKEN}, "OCT107") == ["info"]


@pytest.mark.parametrize("path, severity", [("agents/a.md", "warning"), (".claude/agents/a.md", "error")])
def test_an_agent_of_a_plugin_needs_no_description(tmp_path: Path, path: str, severity: str) -> None:
    """Claude Code writes one for the agents of a plugin, and skips an agent of the project."""
    files = {path: "---\nname: a\n---\nText.\n", ".claude-plugin/plugin.json": '{"name": "a"}'}
    assert severities(tmp_path, files, "OCT202") == [severity]


@pytest.mark.parametrize(
    "path, place, severity",
    [
        (".windsurf/mcp_config.json", ["warning"], "warning"),
        (".codeium/windsurf/mcp_config.json", [], "error"),
        ("cline_mcp_settings.json", ["info"], "warning"),
        ("claude_desktop_config.json", ["info"], "warning"),
        (".claude/mcp.json", ["warning"], "warning"),
        (".cursor/mcp.json", [], "error"),
    ],
)
def test_only_a_token_is_an_error_in_a_file_that_no_client_reads(
    tmp_path: Path, path: str, place: list[str], severity: str
) -> None:
    """A package that does not exist stops nothing where nothing starts the server; everyone can use the token."""
    server = f'{{"command": "npx", "args": ["-y", "{GONE}"], "env": {{"A": "{TOKEN}"}}}}'
    files = {path: f'{{"mcpServers": {{"a": {server}}}}}'}
    assert severities(tmp_path, files, "OCT767") == place
    assert severities(tmp_path, {}, "OCT763") == [severity]
    assert severities(tmp_path, {}, "OCT725") == ["error"]


@pytest.mark.parametrize("value, severity", [("YOUR_API_KEY", "warning"), ("${API_KEY}", "error")])
def test_a_file_with_values_to_fill_in_may_be_unfinished(tmp_path: Path, value: str, severity: str) -> None:
    """No client can use the servers of such a file before its owner edits it."""
    text = f'{{"mcpServers": {{"a": {{"command": "a", "args": ["{value}"]}} // more\n}}}}'
    assert severities(tmp_path, {".mcp.json": text}, "OCT108") == [severity]


@pytest.mark.parametrize(
    "folder, severity",
    [(".codex", "error"), (".agents", "error"), (".gemini", "warning"), (".claude", "warning")],
)
def test_a_skill_is_broken_where_its_client_skips_it(tmp_path: Path, folder: str, severity: str) -> None:
    """Gemini CLI and Claude Code keep a skill whose front matter is not YAML."""
    text = "---\nname: a\ndescription: Builds\ncases:\n  - **bold**\n---\nText.\n"
    assert severities(tmp_path, {f"{folder}/skills/a/SKILL.md": text}, "OCT114") == [severity]


@pytest.mark.parametrize("path, severity", [("gemini-extension.json", "warning"), (".cursor/mcp.json", "error")])
def test_an_extension_of_gemini_may_list_its_servers(tmp_path: Path, path: str, severity: str) -> None:
    """Gemini CLI loads them under the numbers `0`, `1` and so on."""
    text = '{"name": "a", "version": "1.0.0", "mcpServers": [{"command": "a"}]}'
    assert severities(tmp_path, {path: text}, "OCT203") == [severity]


@pytest.mark.parametrize(
    "path, before, severity",
    [
        (".claude/skills/a/SKILL.md", "Example response:\n\n", "info"),
        (".claude/skills/a/references/keys.md", "**Response**\n", "info"),
        (".claude/skills/a/SKILL.md", "Use this key:\n", "error"),
        (".claude/agents/a.md", "Example response:\n", "error"),
    ],
)
def test_a_token_that_a_skill_shows_is_information(tmp_path: Path, path: str, before: str, severity: str) -> None:
    """Skills copy sample tokens from the documentation of services; files elsewhere have real ones."""
    head = "---\nname: a\ndescription: Builds\n---\n"
    files = {".claude/skills/a/SKILL.md": f"{head}Text.\n", path: f'{head}{before}{{"key": "{TOKEN}"}}\n'}
    assert severities(tmp_path, files, "OCT725") == [severity]
