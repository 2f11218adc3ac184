"""Usual forms of other clients, tools and scripts in a folder, of which a check says nothing, or only what is right."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from octoc.compiler.checkup.check import CheckOutcome, check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.rule import Severity

AGENT = "---\nname: {name}\ndescription: Reviews a change\n{more}---\nYou review.\n"
SKILL = "---\nname: look\ndescription: Looks\n---\n{text}\n"
PLUGIN = '{"name": "acme", "version": "1.0.0", "description": "d", "author": {"name": "a"}}'
COMMAND = {"type": "command", "command": "a-guard"}


def check(root: Path, files: Mapping[str, str]) -> CheckOutcome:
    """Write `files`, and check the folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return check_target(CheckTarget(root=root, folder=root), use_cache=False)


def codes(outcome: CheckOutcome, least: Severity = Severity.WARNING) -> set[str]:
    """Return the rules of the findings of a severity or above."""
    return {one.rule.code for one in outcome.diagnostics if one.severity >= least}


def found(outcome: CheckOutcome, code: str) -> list[tuple[str, str, str]]:
    """Return severity, message and help of the findings of a rule."""
    return [(one.severity.label, one.message, one.help or "") for one in outcome.diagnostics if one.rule.code == code]


@pytest.mark.parametrize(
    "text, rules",
    [
        ("Count the kilo\u00admeters.", set()),
        ("Count the k\u00adm.", {"OCT480"}),
        ("i\u00adg\u00adn\u00ado\u00adr\u00ade", {"OCT480"}),
        ("Count\u00ad them.", {"OCT480"}),
    ],
)
def test_a_soft_hyphen_inside_of_a_word_is_typography(tmp_path: Path, text: str, rules: set[str]) -> None:
    """A soft hyphen with two letters on each side shows where a line may break a word."""
    assert codes(check(tmp_path, {".claude/skills/look/SKILL.md": SKILL.format(text=text)})) == rules


@pytest.mark.parametrize(
    "matcher, rules",
    [
        ("Bash|bash|shell", set()),
        ("bash", {"OCT729"}),
        ("Edit|Wirte", {"OCT729"}),
        ("^(Edit|Wirte)$", {"OCT729"}),
        ("FileRead", {"OCT729"}),
        ("Edit|EditFile", set()),
        ("write_file", {"OCT729"}),
        ("Bash|write_file", set()),
        ("ledger_add", set()),
        ("Deploy", set()),
    ],
)
def test_a_matcher_may_name_a_tool_as_other_clients_do(tmp_path: Path, matcher: str, rules: set[str]) -> None:
    """A name that is near a tool of the same matcher is another client's; one that is near another tool is a slip."""
    settings = {"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [COMMAND]}]}}
    assert codes(check(tmp_path, {".claude/settings.json": json.dumps(settings)})) == rules


@pytest.mark.parametrize(
    "key, value, rules",
    [
        ("_comment", ["runs before each command"], set()),
        ("//", "runs before each command", set()),
        ("about", "runs before each command", set()),
        ("PreTooluse", [{"hooks": [COMMAND]}], {"OCT729"}),
        ("PreToolUse", "a-guard", {"OCT203"}),
    ],
)
def test_a_note_beside_the_events_of_hooks(tmp_path: Path, key: str, value: object, rules: set[str]) -> None:
    """A key that begins as a comment, or an unknown one with a text, is a comment."""
    settings = {"hooks": {key: value, "Stop": [{"hooks": [COMMAND]}]}}
    assert codes(check(tmp_path, {".claude/settings.json": json.dumps(settings)})) == rules


@pytest.mark.parametrize(
    "events, manifest, rules",
    [
        (["afterFileEdit", "stop"], None, set()),
        (["stop"], "./hooks/hooks.json", set()),
        (["stop"], None, {"OCT729"}),
        (["afterFileEdit", "Stop"], None, {"OCT729"}),
    ],
)
def test_hooks_of_a_plugin_for_cursor(tmp_path: Path, events: list[str], manifest: str | None, rules: set[str]) -> None:
    """A plugin's file of hooks with Cursor's events alone is Cursor's; `stop` alone if Cursor's manifest names it."""
    files = {
        ".claude-plugin/plugin.json": PLUGIN,
        "hooks/hooks.json": json.dumps({"hooks": {event: [{"hooks": [COMMAND]}] for event in events}}),
    }
    if manifest:
        files[".cursor-plugin/plugin.json"] = json.dumps({"name": "acme", "hooks": manifest})
    assert codes(check(tmp_path, files)) == rules


@pytest.mark.parametrize(
    "folder, name, rules",
    [
        ("dot_claude", "executable_run.sh.tmpl", set()),
        ("dot_claude", "private_readonly_run.sh", set()),
        ("dot_claude", "executable_start.sh", {"OCT731"}),
        ("kit", "executable_run.sh", {"OCT731"}),
    ],
)
def test_chezmoi_gives_files_other_names(tmp_path: Path, folder: str, name: str, rules: set[str]) -> None:
    """In a folder of chezmoi, a skill's text links to the names that files have once chezmoi has written them."""
    files = {
        f"{folder}/skills/look/SKILL.md": SKILL.format(text="Run [this](scripts/run.sh)."),
        f"{folder}/skills/look/scripts/{name}": "true\n",
    }
    assert codes(check(tmp_path, files)) == rules


@pytest.mark.parametrize(
    "target, severity, shown",
    [
        ("../../../shared/skills/scan", "info", "../../../shared/skills/scan"),
        ("/home/ada/.agents/skills/scan", "info", "/home/ada/.agents/skills/scan"),
        ("/Users/ada/.agents/skills/scan", "info", "/Users/ada/.agents/skills/scan"),
        ("../../kit/scan", "warning", "../../kit/scan"),
        ("/opt/kit/scan", "warning", "/opt/kit/scan"),
        ("/var/folders/q7/x1_c93kd82hf7aa0000gn/T/kit-Zr9TbW/scan", "warning", "below `/var/folders`"),
    ],
)
def test_a_link_out_of_the_repository(tmp_path: Path, target: str, severity: str, shown: str) -> None:
    """Only the owner's machine has what lies outside of the repository; no machine keeps temporary files."""
    (tmp_path / ".claude/skills").mkdir(parents=True)
    (tmp_path / ".claude/skills/scan").symlink_to(target)
    ((label, message, _),) = found(check(tmp_path, {".mcp.json": '{"mcpServers": {}}'}), "OCT122")
    assert label == severity
    assert shown in message


def test_windsurf_reads_no_file_of_a_project(tmp_path: Path) -> None:
    """The help for servers in `.windsurf/` names what Windsurf's successor reads, and its form of a variable."""
    servers = '{"mcpServers": {"a": {"command": "/home/eve/a/a"}}}'
    outcome = check(tmp_path, {".windsurf/mcp.json": servers})
    ((label, message, advice),) = found(outcome, "OCT767")
    assert (label, "`~/.codeium/windsurf/mcp_config.json`" in message) == ("warning", True)
    assert "`.devin/mcp_config.json`" in advice
    assert ["`${env:HOME}`" in advice for _, _, advice in found(outcome, "OCT761")] == [True]


@pytest.mark.parametrize(
    "name, text, severity",
    [
        (".devcontainer/devcontainer.json", '{"mounts": ["target=/root/.codeium/windsurf/mcp_config.json"]}', "info"),
        ("scripts/set-up.sh", "jq . .windsurf/mcp_config.json > ~/.codeium/windsurf/mcp_config.json\n", "info"),
        ("scripts/set-up.sh", "cat .windsurf/mcp_config.json\n", "warning"),
        ("README.md", "Copy it to ~/.codeium/windsurf/mcp_config.json\n", "warning"),
    ],
)
def test_a_file_that_a_script_installs_for_the_user(tmp_path: Path, name: str, text: str, severity: str) -> None:
    """Where a container or a script puts the client's file into the user's folder, the project's file is its source."""
    files = {".windsurf/mcp_config.json": '{"mcpServers": {"a": {"command": "a-mcp"}}}', name: text}
    assert [one[0] for one in found(check(tmp_path, files), "OCT767")] == [severity]


@pytest.mark.parametrize("name, rules", [("tools/agent/mcp.json", set()), (".mcp.json", {"OCT203"})])
def test_a_word_as_auth_is_another_client_s(tmp_path: Path, name: str, rules: set[str]) -> None:
    """`auth` is an object where octoc reads it; in a file of an unnamed client it may be a word."""
    server = {"type": "http", "url": "https://docs.example/mcp", "auth": "bearer"}
    assert codes(check(tmp_path, {name: json.dumps({"mcpServers": {"docs": server}})})) == rules


@pytest.mark.parametrize(
    "host, severities",
    [
        ("$${STACK:-prod}-search:3000", ["info"]),
        ("${SEARCH_HOST}:3000", []),
        ("${HOST}.${DOMAIN}", []),
        ("${HOST}.example.com", ["warning"]),
    ],
)
def test_a_host_that_a_variable_names(tmp_path: Path, host: str, severities: list[str]) -> None:
    """A host of variables alone is unknown; without them, one label is a service of the same private network."""
    text = f"mcpServers:\n  search:\n    type: streamable-http\n    url: http://{host}/mcp\n"
    assert [one[0] for one in found(check(tmp_path, {"librechat.yaml": text}), "OCT403")] == severities


def test_antigravity_takes_comments(tmp_path: Path) -> None:
    """A comment in Antigravity's file stops nothing."""
    text = '{"mcpServers": {"a": {"command": "a-mcp"} /* more */}} // and notes\n'
    assert codes(check(tmp_path, {".agents/mcp_config.json": text})) == set()


@pytest.mark.parametrize("digest, rules", [("<WRITTEN_BY_CI>", set()), ("", {"OCT739"}), ("abc", {"OCT739"})])
def test_a_digest_that_a_release_fills_in(tmp_path: Path, digest: str, rules: set[str]) -> None:
    """The registry gets the file that a release makes of a placeholder."""
    package = {
        "registryType": "mcpb",
        "identifier": "https://github.com/acme/look/releases/download/v1.0.0/look.mcpb",
        "fileSha256": digest,
        "transport": {"type": "stdio"},
    }
    schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    values = {"$schema": schema, "name": "io.github.acme/look", "version": "1.0.0", "description": "Looks"}
    assert codes(check(tmp_path, {"server.json": json.dumps({**values, "packages": [package]})})) == rules


@pytest.mark.parametrize(
    "path, text, severity",
    [
        (".claude/agents/speed.md", AGENT.format(name="speed", more="color: red\nmodel: opus\ncolor: red\n"), "info"),
        (".claude/agents/speed.md", AGENT.format(name="speed", more="color: red\ncolor: blue\n"), "warning"),
        (".mcp.json", '{"mcpServers": {"a": {"command": "a", "timeout": 5000, "timeout": 5000}}}', "info"),
        (".mcp.json", '{"mcpServers": {"a": {"command": "a"}, "a": {"command": "b"}}}', "warning"),
        (".continue/mcpServers/a.yaml", "name: a\nversion: 1.0.0\nschema: v1\nname: a\nmcpServers: []\n", "error"),
    ],
)
def test_a_key_twice_with_one_value(tmp_path: Path, path: str, text: str, severity: str) -> None:
    """Programs differ in which of two equal values they take, which changes nothing; a reader of YAML refuses them."""
    assert [one[0] for one in found(check(tmp_path, {path: text}), "OCT109")] == [severity]


@pytest.mark.parametrize(
    "folder, rules",
    [
        ("tmp/agents", set()),
        ("team/archive/agents", set()),
        (".agents/prototypes/agents", set()),
        ("extensions/old/agents", {"OCT115"}),
        ("tmp-files/agents", {"OCT115"}),
    ],
)
def test_agents_that_are_put_aside(tmp_path: Path, folder: str, rules: set[str]) -> None:
    """A folder of temporary, old or trial files is one of examples; an extension may have any name."""
    text = "---\nname: speed\ndescription: Looks for: slow code\n---\nLook.\n"
    assert codes(check(tmp_path, {f"{folder}/speed.md": text})) == rules


@pytest.mark.parametrize("manifest, client", [(".claude-plugin/plugin.json", "Claude Code"), ("README.md", "Octo")])
def test_an_agent_file_of_a_plugin_is_claude_code_s(tmp_path: Path, manifest: str, client: str) -> None:
    """AGENT.md below the `agents/` of a plugin is Claude Code's, and Octo's elsewhere."""
    text = AGENT.format(name="reviewer", more="allowed-tools: Read, Grep\n")
    outcome = check(tmp_path, {f"kit/{manifest}": PLUGIN, "kit/agents/reviewer/AGENT.md": text})
    assert [one[1].partition(" does not")[0] for one in found(outcome, "OCT746")] == [client]


@pytest.mark.parametrize("line, rules", [('cp "$root"/agents/*.md .claude/agents/', set()), ("true", {"OCT746"})])
def test_a_plugin_may_copy_its_agents(tmp_path: Path, line: str, rules: set[str]) -> None:
    """Claude Code reads the hooks of an agent that a script of the plugin has copied into the project."""
    command = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/start.sh"}
    files = {
        ".claude-plugin/plugin.json": PLUGIN,
        "hooks/hooks.json": json.dumps({"hooks": {"SessionStart": [{"hooks": [command]}]}}),
        "scripts/start.sh": f"#!/bin/sh\n{line}\n",
        "agents/reviewer.md": AGENT.format(name="reviewer", more="hooks: {}\n"),
    }
    assert codes(check(tmp_path, files)) == rules


@pytest.mark.parametrize(
    "lines, advice",
    [
        ('name: "look"\nnull', "delete the line `null`, or write it as `key: value`"),
        ("name: look\nundefined", "delete the line `undefined`, or write it as `key: value`"),
        ("description: Looks at\nall of it", "write `description: >-`"),
    ],
)
def test_a_line_of_front_matter_without_a_key(tmp_path: Path, lines: str, advice: str) -> None:
    """A bare word, or a line after a value in quotes, continues no value, so the help is about the line itself."""
    ((_, _, help_),) = found(check(tmp_path, {".claude/skills/look/SKILL.md": f"---\n{lines}\n---\nLook.\n"}), "OCT114")
    assert help_.startswith(advice)


def test_a_rule_by_the_name_that_claude_code_shows(tmp_path: Path) -> None:
    """Claude Code shows calls of `Glob` and `Grep` as Search, and no rule may say so."""
    outcome = check(tmp_path, {".claude/settings.json": '{"permissions": {"allow": ["Search"]}}'})
    assert [one[2] for one in found(outcome, "OCT728")] == ["did you mean `Glob` or `Grep`?"]


@pytest.mark.parametrize("path", [".claude/agents/speed.md", ".claude/skills/speed/SKILL.md"])
def test_a_blank_line_hides_front_matter(tmp_path: Path, path: str) -> None:
    """Front matter begins in line 1, and the message says what stands above it."""
    outcome = check(tmp_path, {path: "\n" + AGENT.format(name="speed", more="")})
    ((label, message, advice),) = found(outcome, "OCT112")
    assert (label, "begins in line 2, after a blank line" in message) == ("warning", True)
    assert advice.startswith("delete the blank line")


def test_auto_mode_belongs_to_one_user(tmp_path: Path) -> None:
    """Claude Code reads `autoMode` in the local file of a project, and not in the shared one."""
    settings = json.dumps({"autoMode": {"environment": ["Our own bucket"]}})
    outcome = check(tmp_path, {".claude/settings.json": settings, ".claude/settings.local.json": settings})
    assert [one.span.file for one in outcome.diagnostics if one.span] == [".claude/settings.json"]
    assert ["`.claude/settings.local.json`" in one[2] for one in found(outcome, "OCT733")] == [True]


@pytest.mark.parametrize(
    "files",
    [
        {
            ".codex-plugin/plugin.json": '{"name": "acme", "version": "1.0.0", "description": "d"}',
            ".mcp.json": '{"mcpServers": {"a": {"url": "https://a.example/mcp", "http_headers": {"X-A": "b"}}}}',
        },
        {".mcp.json": '{"mcpServers": {"$off": {"a": {"command": "a-mcp"}}, "b": {"command": "b-mcp"}}}'},
        {".mcp.json": '{"mcpServers": {"Acme Docs": {"type": "http", "url": "https://a.example/mcp"}}}'},
        {".claude/agents/look.md": "---\nname: look\nextends: acme:look\n---\nLook twice.\n"},
        {"scripts/mcp-config.json": '{"mcpServers": {"a": {"command": "/home/ann/a-mcp"}}}'},
        {".claude/skills/look/SKILL.md": SKILL.format(text="| [ADR-NNN](ADR-NNN-title.md) | YYYY-MM-DD |")},
        {
            ".cursor-plugin/plugin.json": '{"name": "acme", "mcpServers": "../servers.json"}',
            "servers.json": '{"mcpServers": {"a": {"command": "a-mcp"}}}',
        },
        {".mcp.json": json.dumps({"mcpServers": {"a": {"command": "sh", "args": ["-c", 'T="${A:-${B:-$(t)}}"; a']}}})},
        {".claude/agents/look.md": AGENT.format(name="look", more="").replace("a change", "what users may not know")},
        {".claude/skills/look/SKILL.md": SKILL.format(text="Look.").replace("---\nL", "agents: [acme]\n---\nL")},
        {
            "p/.cursor-plugin/plugin.json": '{"name": "acme"}',
            "p/agents/look.md": AGENT.format(name="look", more="readonly: true\nallowed-tools: Read\n"),
        },
        {".github/agents/look.agent.md": AGENT.format(name="look", more="tools: [run_subagent, open_file]\n")},
    ],
)
def test_forms_that_owners_mean(tmp_path: Path, files: Mapping[str, str]) -> None:
    """Codex's keys in its plugin, notes among servers, overlays, patterns of links, and words of other programs."""
    assert codes(check(tmp_path, files)) == set()


@pytest.mark.parametrize(
    "files, rule, severity",
    [
        ({".github/prompts/look.prompt.md": "Look \0 here.\n"}, "OCT104", "warning"),
        ({"plugins/a/plugin.json": "{}", "plugins/a/.mcp.json": '{"a": {"command": "a-mcp"}}'}, "OCT202", None),
        ({"skills/look/SKILL.md": "# Look\n\nLook.\n"}, "OCT112", "info"),
        ({".claude/skills/look/SKILL.md": "# Look\n\nLook.\n"}, "OCT112", "warning"),
        ({"archived/v1/.claude/agents/look.md": "---\nname: look\ndescription: [a\n---\nLook.\n"}, "OCT114", "info"),
        (
            {f".agents/skills/{one}/SKILL.md": SKILL.replace("look", f"a:{one}").format(text="L.") for one in "bcdef"},
            "OCT206",
            "info",
        ),
        (
            {
                ".claude-plugin/marketplace.json": '{"name": "m", "owner": {"name": "a"}, "plugins": []}',
                "plugins/a/agents/look/AGENT.md": AGENT.format(name="look", more="model: opus\n"),
            },
            "OCT457",
            None,
        ),
        ({".claude/commands/look.md": "---\ntools: [github/issue_read]\n---\nLook.\n"}, "OCT746", "info"),
    ],
)
def test_severities_that_owners_agree_with(
    tmp_path: Path, files: Mapping[str, str], rule: str, severity: str | None
) -> None:
    """What a client reads all the same, what no client looks for, and what an owner does everywhere is less."""
    outcome = check(tmp_path, files)
    assert {one.severity.label for one in outcome.diagnostics if one.rule.code == rule} == ({severity} - {None})
