"""What a check of a folder says nothing of, or only as information: forms that the owners of real repositories mean."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from octoc.compiler.checkup.check import CheckOutcome, check_target
from octoc.compiler.checkup.near_files import near_files
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.inputs.registry import FileKinds
from octoc.credentials import credentials_in
from octoc.diagnostics.rule import Severity

AGENT = "---\nname: {name}\ndescription: Reviews a change\n{more}---\nYou review.\n"
HEADERS = '"headers": {"Authorization": "{env:A}"}'
HOOK = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "$CLAUDE_PROJECT_DIR/tools/stop.sh"}]}]}}'
SKILL = "---\nname: look\ndescription: Looks\n---\nLook.\n"
TOKEN = "ghp_" + "Kf83jd02mQ7xl4Zr9TbW1nYc6VsEp05HgUaD"
REGISTERED = (
    '{"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json", '
    '"name": "io.github.acme/look", "version": "1.0.0", "description": "Looks"}'
)
PLUGIN = '{"name": "acme", "version": "1.0.0", "description": "d", "author": {"name": "a"}}'


def check(root: Path, files: Mapping[str, str]) -> CheckOutcome:
    """Write `files`, and check the folder."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return check_target(CheckTarget(root=root, folder=root), use_cache=False)


def codes(outcome: CheckOutcome, least: Severity = Severity.WARNING) -> set[str]:
    """Return the rules of the findings of a severity or above."""
    return {one.rule.code for one in outcome.diagnostics if one.severity >= least}


@pytest.mark.parametrize(
    "more",
    [
        "tools:\n  - read_file\n  - grep\n",
        "tools:\n- read_file\n",
        "tools: read_file, grep\n",
        "mode: primary\ntools:\n  write: true\n  edit: false\n",
        "mode: subagent\ntools:\n  Read: true\n  Bash: false\n",
    ],
)
def test_an_agent_of_another_program_is_not_judged(tmp_path: Path, more: str) -> None:
    """In a folder `agents` of no client, an agent whose tools Claude Code lacks is another program's."""
    text = AGENT.format(name="reviewer", more=more)
    assert (
        codes(check(tmp_path, {"agents/reviewer.md": text, "agents/other.md": text.replace("name: reviewer\n", "")}))
        == set()
    )


def test_an_agent_of_a_plugin_is_judged(tmp_path: Path) -> None:
    """The same agent in a plugin of Claude Code has no tool there."""
    files = {
        ".claude-plugin/plugin.json": PLUGIN,
        "agents/reviewer.md": AGENT.format(name="reviewer", more="tools: read_file, grep\n"),
    }
    assert "OCT321" in codes(check(tmp_path, files))


@pytest.mark.parametrize("folder", ["", ".claude/"])
def test_names_with_capitals_are_information(tmp_path: Path, folder: str) -> None:
    """`Code Reviewer` is information: Claude Code loads the agent."""
    outcome = check(tmp_path, {f"{folder}agents/reviewer.md": AGENT.format(name="Code Reviewer", more="")})
    assert codes(outcome) == set()
    assert "OCT242" in codes(outcome, Severity.INFO)


@pytest.mark.parametrize("written,found", [("agent", set()), ("subagent", set()), ("suprevisor", {"OCT204"})])
def test_a_type_of_its_own_is_no_mistake_for_claude_code(tmp_path: Path, written: str, found: set[str]) -> None:
    """Claude Code reads no `type`: only a slip of one of Octo's types is reported."""
    files = {
        ".claude-plugin/plugin.json": PLUGIN,
        "agents/reviewer.md": AGENT.format(name="reviewer", more=f"type: {written}\n"),
    }
    assert codes(check(tmp_path, files)) == found


@pytest.mark.parametrize(
    "host,severity",
    [
        ("search:8080", "info"),
        ("host.docker.internal:3000", "info"),
        ("10.0.0.7", "info"),
        ("192.168.1.4:80", "info"),
        ("nas.local", "info"),
        ("[fd00::7]:80", "info"),
        ("100.80.30.59:8051", "info"),
        ("nas.tail1a2b3.ts.net", "info"),
        ("${STACK}-search:80", "info"),
        ("${REGION}.example.com", "warning"),
        ("8.8.8.8", "warning"),
        ("100.128.0.1", "warning"),
        ("crm.example.com", "warning"),
        ("internal.example.com", "warning"),
    ],
)
def test_plain_http_in_a_private_network_is_information(tmp_path: Path, host: str, severity: str) -> None:
    """A service of docker compose, a private address or a private ending needs no https to be usual."""
    servers = {"mcpServers": {"search": {"type": "http", "url": f"http://{host}/mcp"}}}
    outcome = check(tmp_path, {".mcp.json": json.dumps(servers)})
    assert [one.severity.label for one in outcome.diagnostics if one.rule.code == "OCT403"] == [severity]


@pytest.mark.parametrize("value", ["{{DESCRIPTION}}", "{{ cookiecutter.text }} helps", "a\n{% if x %}: b\n{% endif %}"])
def test_a_template_is_not_broken(tmp_path: Path, value: str) -> None:
    """Front matter that a program fills in first is information."""
    outcome = check(
        tmp_path, {".claude/agents/reviewer.md": f"---\nname: reviewer\ndescription: {value}\n---\nText.\n"}
    )
    assert codes(outcome) == set()
    assert "OCT114" in codes(outcome, Severity.INFO)


def test_front_matter_with_other_braces_stays_broken(tmp_path: Path) -> None:
    """A list that never ends is a mistake."""
    outcome = check(tmp_path, {".claude/agents/reviewer.md": "---\nname: reviewer\ntools: [Read, {a\n---\nText.\n"})
    assert "OCT114" in codes(outcome, Severity.ERROR)


def test_the_id_of_a_debugged_browser_is_no_secret() -> None:
    """An address of the Chrome DevTools protocol has an id that a restart changes; a token beside it is found."""
    address = "ws://127.0.0.1:9222/devtools/{}/0b3e5a3c-6f0e-4c1b-9d52-7a1f2c3d4e5f"
    for page in ("browser", "page"):
        assert credentials_in(address.format(page)) == ()
    assert credentials_in(address.format("browser").replace("devtools/browser", "connect"))
    assert credentials_in(address.format("browser") + "?token=9fK2mQ7xL4vB8nR3")


def test_claude_desktop_starts_commands_alone(tmp_path: Path) -> None:
    """Claude Desktop does not read a `type`, so the help names a connector or a bridge, and there is no fix."""
    servers = '{"mcpServers": {"docs": {"url": "https://docs.example/mcp"}}}'
    outcome = check(tmp_path, {"claude_desktop_config.json": servers})
    (found,) = [one for one in outcome.diagnostics if one.rule.code == "OCT224"]
    assert "connector" in (found.help or "")
    assert found.fix is None


def test_settings_without_servers_are_something_to_check(tmp_path: Path) -> None:
    """A client's settings file alone is read, and has no finding; beside servers it is not read."""
    outcome = check(tmp_path, {".zed/settings.json": '{"theme": "One Dark"}'})
    assert outcome.read == {tmp_path / ".zed/settings.json"}
    assert outcome.diagnostics == ()
    outcome = check(tmp_path, {".mcp.json": '{"mcpServers": {"a": {"command": "x"}}}'})
    assert outcome.read == {tmp_path / ".mcp.json"}


def test_a_rule_on_skills_may_be_of_a_prefix(tmp_path: Path) -> None:
    """`Skill(name:*)` is of each skill whose name begins so; a slip of a name is reported."""
    skills = {
        f".claude/skills/{name}/SKILL.md": f"---\nname: {name}\ndescription: Builds.\n---\nBuild.\n"
        for name in ("building-agents", "building-tools")
    }
    rules = ["Skill(building-agents:*)", "Skill(building-:*)", "Skill(building-agents)"]
    settings = json.dumps({"permissions": {"allow": rules}})
    assert codes(check(tmp_path, {**skills, ".claude/settings.json": settings})) == set()
    settings = json.dumps({"permissions": {"allow": ["Skill(biulding-agents:*)"]}})
    assert codes(check(tmp_path, {".claude/settings.json": settings})) == {"OCT728"}


@pytest.mark.parametrize(
    "path, text",
    [
        (".claude/agents/_template.md", "You are an agent that reviews changes.\n"),
        (".claude/agents/reviewer.md", AGENT.format(name="reviewer", more="mcpServers: [context7]\n")),
        (".claude/skills/look/SKILL.md", "---\nname: look\ndescription: Looks\nallowed-tools: web_fetch\n---\nLook.\n"),
        (".claude/skills/look/SKILL.md", "---\nname: look\ndescription: Looks\ntools: Read\n---\nLook.\n"),
        (".codex-plugin/plugin.json", '{"name": "acme", "mcpServers": ["konnect"]}'),
        (".mcp.json", '{"mcpServers": {"a": {"command": "a-mcp", "description": "for notes"}}}'),
        (".mcp.json", '{"mcpServers": {"a": {"type": "sse", "url": "http://localhost:8000/sse"}}}'),
        (".claude/settings.json", '{"mcpServers": {}}'),
        (".codex/config.toml", ""),
        (".claude/agents/reviewer.md", "\n"),
        (".vscode/mcp.json", '// {\n//   "servers": {}\n// }\n'),
        (".vscode/mcp.json", '{"servers": {"a": {"command": "a-mcp", "env": {"PORT": "${config:acme.port}"}}}}'),
        (".vscode/mcp.json", '{"servers": {"a": {"type": "http", "url": "unix:///tmp/server.sock#/mcp"}}}'),
        (".cursor/mcp.json", '{"mcpServers": {"a": {"command": "C:/Users/eve/AppData/Local/a/a.exe"}}}'),
        (".codeium/windsurf/mcp_config.json", '{"mcpServers": {"a": {"command": "/home/eve/a/a"}}}'),
        ("proxy/mcp_config.json", '{"mcpServers": [{"name": "a", "command": "a-mcp"}]}'),
        (".mcp.json", '{"mcpServers": {"a": {"type": "http", "url": "http://localhost:1/", "headersHelper": "./t"}}}'),
        (
            ".mcp.json",
            '{"mcpServers": {"a": {"type": "http", "url": "http://[::1]/", "headers": {"X-Key": "kf83jd02mq7xl4"}}}}',
        ),
        (
            ".mcp.json",
            '{"mcpServers": {"a": {"command": "a-mcp", "args": ["postgres://postgres:Kf83jd02m@localhost:5432/a"]}}}',
        ),
        (".mcp.json", '{"mcpServers": {"a": {"command": "a-mcp", "env": {"DB_PASSWORD": "my-secret-password1"}}}}'),
        ("plugins/acme/agents/speed.md", AGENT.format(name="speed", more="permissionMode: acceptEdits\n")),
        (".kiro/agents/reviewer.json", '{"name": "reviewer", "tools": ["fs_read", "fsRead"]}'),
        (".mcp.json", '{"mcpServers": {"a": {"command": "a-mcp", "timeout_ms": 5000}}}'),
        ("crush.json", '{"mcp": {"a": {"type": "http", "url": "https://a.example", "headers": {"A": "$(pass a)"}}}}'),
        (
            "opencode.json",
            '{"mcp": {"a": {"type": "remote", "url": "https://a.example", "oauth": {}, ' + HEADERS + "}}}",
        ),
        (".mcp.json", '{"mcpServers": {"a": {"command": "sh", "args": ["-c", "a-mcp --root $A_ROOT"]}}}'),
        (".claude/agents/reviewer.md", AGENT.format(name="审查员", more="tools: '*'\n")),
        (".claude/agents/reviewer.md", AGENT.format(name="reviewer", more="tools: Read Grep\n")),
        (".claude/skills/_template/SKILL.md", "---\nname: template\ndescription: Copy me\n---\nText.\n"),
        (".claude/skills/look/SKILL.md", "---\nname: look\ndescription: Looks\ndomain: security\n---\nLook.\n"),
        (".claude/agents/reviewer.md", "You are an agent that reviews changes.\n"),
        ("workspace/agents/pickle/AGENT.md", AGENT.format(name="Pickle", more="tools:\n- read\n- write\n")),
        ("plugins/acme/skills/review/agents/speed.md", "---\nname: speed\nkind: persona\n---\nText.\n"),
    ],
)
def test_what_its_owner_means_so_is_no_warning(tmp_path: Path, path: str, text: str) -> None:
    """Templates, the user's own servers, tools of other clients, notes and working transports need no change."""
    (tmp_path / "plugins/acme/.claude-plugin").mkdir(parents=True)
    (tmp_path / "plugins/acme/.claude-plugin/plugin.json").write_text(PLUGIN, encoding="utf-8")
    assert codes(check(tmp_path, {path: text})) == set()


def test_a_prompt_among_agents_lost_its_front_matter(tmp_path: Path) -> None:
    """Where another file of the folder has front matter, a prompt without it is a warning."""
    files = {
        ".claude/agents/reviewer.md": "You are an agent that reviews changes.\n",
        ".claude/agents/writer.md": AGENT.format(name="writer", more=""),
    }
    assert codes(check(tmp_path, files)) == {"OCT112"}


@pytest.mark.parametrize("config, found", [('config_file = "agents/scout.toml"', set()), ("", {"OCT202"})])
def test_codex_takes_an_agent_as_its_settings_declare_it(tmp_path: Path, config: str, found: set[str]) -> None:
    """An agent that `config_file` names may be any layer of configuration; another needs a name and instructions."""
    files = {
        ".codex/config.toml": f'[agents.scout]\ndescription = "Looks"\n{config}\n',
        ".codex/agents/scout.toml": 'model = "gpt-5"\n',
    }
    assert codes(check(tmp_path, files)) == found


def test_a_hook_s_script_may_be_where_its_file_is_installed(tmp_path: Path) -> None:
    """A file of hooks without a manifest beside it names scripts of a folder around it."""
    hook = {"type": "command", "command": "python3 ${CLAUDE_PLUGIN_ROOT}/scripts/start.py"}
    hooks = json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}})
    assert codes(check(tmp_path, {"features/common/hooks/hooks.json": hooks})) == {"OCT731"}
    assert codes(check(tmp_path, {"scripts/start.py": ""})) == set()


@pytest.mark.parametrize(
    "line, found",
    [
        ("argument-hint: [name] [kind]", {"OCT115"}),
        ("argument-hint: @file", {"OCT115"}),
        ("argument-hint: [name, kind]", set()),
        ("argument-hint: [name", {"OCT114"}),
        ("allowed-tools: [Read, *]", {"OCT114"}),
        ("argument-hint: [name] [kind]\nmore: |\n  text", {"OCT114"}),
    ],
)
def test_values_that_claude_code_quotes(tmp_path: Path, line: str, found: set[str]) -> None:
    """Two lists in one value, or a mark that begins none, are a warning; Claude Code saves no text of several lines."""
    text = f"---\nname: look\ndescription: Looks\n{line}\n---\nLook.\n"
    assert codes(check(tmp_path, {".claude/skills/look/SKILL.md": text, "AGENTS.md": "Be kind.\n"})) == found


def test_a_key_twice_in_front_matter_is_a_warning(tmp_path: Path) -> None:
    """Claude Code takes one of the two."""
    text = AGENT.format(name="reviewer", more="color: red\ncolor: blue\n")
    outcome = check(tmp_path, {".claude/agents/reviewer.md": text})
    assert codes(outcome) == {"OCT109"}
    assert codes(outcome, Severity.ERROR) == set()


MEANT = {
    "a server of the user's own file that is switched off": {
        "crush.json": '{"mcp": {"git": {"disabled": true}}}',
        ".mcp.json": '{"mcpServers": {}}',
    },
    "a time limit without a value": {
        ".config/goose/config.yaml": (
            "extensions:\n  a: {name: a, type: stdio, cmd: a, args: [], enabled: true, timeout: null}\n"
        )
    },
    "settings of Claude Desktop without servers": {"claude_desktop_config.json": '{"preferences": {}}'},
    "facts about a server that no registry reads": {
        "server.json": '{"name": "acme", "version": "1.0.0", "packages": {"npm": "acme"}}'
    },
    "a proxy of FastMCP": {"proxy.fastmcp.json": '{"mcpServers": {"a": {"command": "a"}}}'},
    "a home folder as a repository": {
        ".zshrc": "",
        ".claude/settings.json": '{"permissions": {"defaultMode": "auto"}, "skipAutoPermissionPrompt": true}',
    },
    "a source of files that a program makes": {"plugins/_source/hooks/hooks.json": "{ {{> hooks }} }"},
    "a template of a skill": {"presets/skills/commit/SKILL.md": "{{COMMIT_WORKFLOW}}\n"},
    "a chat that Kubernetes runs": {
        "librechat-ingress.yaml": "apiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n"
    },
    "values of a chart": {"librechat-values.yaml": "- image: {{ .Values.image }}\n"},
    "a catalogue of another program": {"catalog.yaml": "kind: Component\n---\nkind: System\n"},
    "an entry without a program in a list of no client": {
        "tools/mcp-servers.json": '{"servers": {"a": {"command": "", "auto_start": false}}}'
    },
    "skills with capabilities of another program": {
        "skills/look/SKILL.md": "---\nname: look\ndescription: Looks\ncapabilities:\n  - pattern_matching\n---\nLook.\n"
    },
    "hooks of another program": {"hooks/hooks.json": '[{"id": "format"}]'},
    "instructions with front matter": {"AGENT.md": "---\nalwaysApply: true\n---\nYou are an agent.\n"},
    "capabilities of another program": {"capabilities/window/config.toml": 'permissions = ["show"]\n'},
    "a scheme of its own before a reference": {
        ".mcp.json": '{"mcpServers": {"a": {"type": "http", "url": "https://acme.io/mcp", "headers": '
        '{"Authorization": "AcmeToken ${ACME_TOKEN}"}}}}'
    },
}


@pytest.mark.parametrize("form", MEANT)
def test_a_form_that_its_owner_means(tmp_path: Path, form: str) -> None:
    """Each of these forms is silent, or information."""
    root = tmp_path / "repository"
    assert codes(check(root, MEANT[form])) == set()


@pytest.mark.parametrize(
    "files, rule",
    [
        ({".claude/settings.json": HOOK}, "OCT731"),
        ({".mcp.json": '{"mcpServers": {"a": {"command": "a-mcp", "url": "https://a.example"}}}'}, "OCT223"),
        ({".mcp.json": '{"mcpServers": {"a": {"type": "grpc", "url": "https://a.example"}}}'}, "OCT222"),
        ({".mcp.json": '{"mcpServers": {"a": {"command": "a-mcp", "timeout": "5"}}}'}, "OCT203"),
        ({".mcp.json": '{"mcpServers": {"a": {"command": "a-mcp"}, "a": {"command": "b-mcp"}}}'}, "OCT109"),
        ({".cursor/mcp.json": '{"version": 1}'}, "OCT202"),
        ({".agents/skills/look/SKILL.md": "# Look\n"}, "OCT112"),
        ({".claude/skills/look/SKILL.md": SKILL.replace("Looks", "[Looks, Sees]")}, "OCT203"),
        ({".claude/skills/look/SKILL.md": "---\n---\nLook.\n"}, "OCT114"),
        ({".codex/config.toml": "[mcp_servers.a]\ncommand = 'a-mcp'\nenv = {\n  B = '1',\n}\n"}, "OCT106"),
        ({"tools/mcp-servers.json": '{"servers": {"a": {"command": ["a-mcp"]}}}'}, "OCT203"),
        ({"tools/mcp-servers.json": '{"servers": {"a": {"command": "a-mcp"}, "b": {"args": []}}}'}, "OCT225"),
        ({".kilo/agents/look.md": "---\ndescription: Looks\ntools: [read]\n---\nLook.\n"}, "OCT203"),
        ({".cursor/skills/look/SKILL.md": "---\n\nLook.\n"}, "OCT113"),
        ({".vscode/mcp.json": '{"mcpServers": {"a": {"serverUrl": "https://a.example"}}}'}, "OCT225"),
        ({"tests/keys/.mcp.json": json.dumps({"mcpServers": {"a": {"command": TOKEN}}})}, "OCT725"),
    ],
)
def test_what_may_work_is_a_warning(tmp_path: Path, files: Mapping[str, str], rule: str) -> None:
    """An error is what no client of the file takes; what depends on a version, or on other files, is a warning."""
    outcome = check(tmp_path, files)
    assert rule in codes(outcome)
    assert codes(outcome, Severity.ERROR) == set()


@pytest.mark.parametrize(
    "files, rule",
    [
        ({".mcp.json": '{"mcpServers": {"a": {"command": ["a-mcp"]}}}'}, "OCT203"),
        ({".mcp.json": '{"mcpServers": {"a": {"command": "a-mcp"}'}, "OCT107"),
        ({".gemini/agents/look.md": "---\nname: look\ndescription: Looks\nmode: all\n---\nLook.\n"}, "OCT201"),
        ({".agents/skills/look/SKILL.md": "# Look\n", ".agents/skills/see/SKILL.md": SKILL}, "OCT112"),
        ({".qwen/agents/look.md": "---\nname: look\n---\nLook.\n"}, "OCT202"),
        ({".codex/skills/look/SKILL.md": SKILL.replace("Looks", "[Looks, Sees]")}, "OCT203"),
        ({".vscode/mcp.json": '{"servers": {"a": {"serverUrl": "https://a.example"}}}'}, "OCT225"),
        ({"server.json": REGISTERED.replace("Looks", "Looks " * 30)}, "OCT739"),
    ],
)
def test_what_a_client_refuses_is_an_error(tmp_path: Path, files: Mapping[str, str], rule: str) -> None:
    """The same check says plainly what cannot work."""
    assert codes(check(tmp_path, files), Severity.ERROR) == {rule}


@pytest.mark.parametrize("folder", ["archived", "legacy", "packages/app/presets", "vendor/acme"])
def test_old_copies_are_information(tmp_path: Path, folder: str) -> None:
    """No client reads what lies in an archive or among presets."""
    outcome = check(tmp_path, {f"{folder}/.mcp.json": '{"mcpServers": {"a": {"url": "https://a.example"}}}'})
    assert codes(outcome) == set()
    assert "OCT224" in codes(outcome, Severity.INFO)


def test_a_link_that_git_wrote_as_text_leads_to_what_is_not_seen(tmp_path: Path) -> None:
    """A script below a link, and a folder of a plugin that is a link, may be there."""
    marketplace = {
        "name": "acme",
        "owner": {"name": "a"},
        "plugins": [{"name": "a", "source": "./", "skills": ["./s"]}],
    }
    files = {
        ".claude/settings.json": HOOK,
        "tools": "skills/common/tools",
        ".claude-plugin/marketplace.json": json.dumps(marketplace),
        "s": "skills/common",
    }
    assert codes(check(tmp_path, files)) == set()
    (tmp_path / "tools").write_text("two\nlines\n", encoding="utf-8")
    assert codes(check(tmp_path, {})) == {"OCT731"}


def test_a_foreign_list_of_servers_is_reported_once(tmp_path: Path) -> None:
    """A list under another client's key is that key's mistake, whatever the list has."""
    outcome = check(tmp_path, {".amazonq/mcp.json": '{"servers": [{"name": "a", "command": "a-mcp"}]}'})
    assert codes(outcome) == {"OCT221"}


def test_agents_of_amazon_q_in_editors_are_read(tmp_path: Path) -> None:
    """A slip of a tool's name is found, and so is a server that cannot start."""
    agent: Mapping[str, object] = {
        "name": "a",
        "tools": ["exectueBash"],
        "mcpServers": {"b": {"args": []}},
        "model": None,
    }
    outcome = check(tmp_path, {".amazonq/agents/default.json": json.dumps(agent)})
    assert codes(outcome, Severity.INFO) >= {"OCT321", "OCT225"}


def test_settings_that_name_the_key_elsewhere_are_whole(tmp_path: Path) -> None:
    """A value that mentions `mcp` does not make a list of servers."""
    outcome = check(tmp_path, {"mcp_agent.config.yaml": "name: mcp-raven\nlogger:\n  path: logs/mcp.log\n"})
    assert outcome.read == {tmp_path / "mcp_agent.config.yaml"}
    assert outcome.diagnostics == ()


def test_servers_in_a_hidden_folder_of_another_program_are_near(tmp_path: Path) -> None:
    """A program that writes clients' files has servers in a folder of its own; git's folder is not searched."""
    servers = '{"mcpServers": {"a": {"command": "a-mcp"}}}'
    assert check(tmp_path, {".rulesync/mcp.json": servers, ".git/mcp.json": servers}).diagnostics == ()
    assert [one.path for one in near_files(tmp_path, FileKinds())] == [".rulesync/mcp.json"]


BRACKETS = "---\nname: {name}\ndescription: Looks\nargument-hint: [kind:{{a}} | all]\n---\nLook.\n".format(name="look")
LOCKED = {"source": "acme/skills", "sourceType": "github", "computedHash": "0" * 64}
OWN_LOCKED = {"source": "./own", "sourceType": "local", "targets": [".claude"], "hash": "0" * 64}
OWN_KEYS = '{"mcpServers": {"a": {"transport": "http", "baseUrl": "https://a.example/mcp"}}}'
DOUBLED = "mcp:\n  servers:\n    a:\n      command: a-mcp\nlogger: null\nlogger:\n  type: file\n"


@pytest.mark.parametrize(
    "files,rule,severity",
    [
        (
            {".kiro/agents/a.json": '{"name": "a", "description": null, "toolsSettings": null, "toolSchema": null}'},
            "OCT203",
            None,
        ),
        ({".kiro/agents/a.json": '{"name": "a", "toolsSettings": "all"}'}, "OCT203", Severity.ERROR),
        (
            {"skills-lock.json": json.dumps({"version": 1, "skills": {"a": LOCKED, "b": OWN_LOCKED}})},
            "OCT202",
            None,
        ),
        (
            {"skills-lock.json": json.dumps({"version": 1, "skills": {"a": {"source": "a", "sourceType": "github"}}})},
            "OCT202",
            None,
        ),
        ({"app/.mcp.json": OWN_KEYS}, "OCT225", Severity.INFO),
        ({".mcp.json": OWN_KEYS}, "OCT225", Severity.ERROR),
        ({"mcp_agent.config.yaml": DOUBLED}, "OCT109", Severity.WARNING),
        (
            {".amazonq/mcp.json": '{"mcpServers": {"a": {"command": "", "disabled": true}}}'},
            "OCT207",
            Severity.INFO,
        ),
        ({".amazonq/mcp.json": '{"mcpServers": {"a": {"command": ""}}}'}, "OCT207", Severity.ERROR),
        ({".claude/skills/look/SKILL.md": BRACKETS}, "OCT115", Severity.INFO),
        ({".claude/skills/look/SKILL.md": BRACKETS, "AGENTS.md": "Be kind.\n"}, "OCT115", Severity.WARNING),
        ({".claude/skills/look/SKILL.md": BRACKETS}, "OCT114", None),
        ({".agents/skills/look/SKILL.md": BRACKETS}, "OCT114", Severity.ERROR),
        ({"app/src/skills/look/SKILL.md": "# Look\n\nLook.\n"}, "OCT112", Severity.INFO),
        ({"app/skills/look/SKILL.md": "# Look\n\nLook.\n"}, "OCT112", Severity.INFO),
        ({f"app/skills/{name}/SKILL.md": "# Look\n\nLook.\n" for name in "abc"}, "OCT112", Severity.INFO),
        (
            {".codex/config.toml": "[agents]\n[agents]\n", ".codex/agents/a.toml": 'model = "m"\n'},
            "OCT202",
            None,
        ),
        ({".codex/agents/a.toml": 'model = "m"\n'}, "OCT202", Severity.WARNING),
        (
            {
                ".claude/settings.json": '{"permissions": {"allow": ["Skill(acme:look)"]}}',
                ".claude/skills/acme-look/SKILL.md": SKILL.replace("look", "acme-look"),
            },
            "OCT728",
            None,
        ),
        (
            {
                ".claude/settings.json": '{"permissions": {"allow": ["Skill(acme-lok)"]}}',
                ".claude/skills/acme-look/SKILL.md": SKILL.replace("look", "acme-look"),
            },
            "OCT728",
            Severity.WARNING,
        ),
    ],
)
def test_a_severity_follows_what_the_client_does(
    tmp_path: Path, files: Mapping[str, str], rule: str, severity: Severity | None
) -> None:
    """What the file's own client takes, or never reads, is not an error; what it refuses is."""
    found = {one.rule.code: one.severity for one in check(tmp_path, files).diagnostics}
    assert found.get(rule) == severity


@pytest.mark.parametrize(
    "file,server,severity",
    [
        (".mcp.json", {"command": "wsl.exe", "args": ["/home/ann/run.sh"]}, Severity.INFO),
        ("cursor/.cursor/mcp.json", {"command": "a-mcp", "args": ["/home/ann/a"]}, Severity.INFO),
        (".cursor/mcp.json", {"command": "a-mcp", "args": ["/home/ann/a"]}, Severity.WARNING),
    ],
)
def test_a_home_folder_is_information_in_files_of_one_user(
    tmp_path: Path, file: str, server: Mapping[str, object], severity: Severity
) -> None:
    """Dotfiles are one user's own, and a program of WSL has no variable for its home."""
    outcome = check(tmp_path, {file: json.dumps({"mcpServers": {"a": server}})})
    assert {one.severity for one in outcome.diagnostics if one.rule.code == "OCT761"} == {severity}


def test_an_interpreter_by_its_path_keeps_its_modules(tmp_path: Path) -> None:
    """The advice for the Python of a virtual environment is not the Python of PATH."""
    server = {"command": "/home/ann/acme/.venv/bin/python", "args": ["-m", "acme"]}
    outcome = check(tmp_path, {".mcp.json": json.dumps({"mcpServers": {"a": server}})})
    (found,) = (one for one in outcome.diagnostics if one.rule.code == "OCT761")
    assert "PATH" not in str(found.help)


@pytest.mark.parametrize(
    "name,value,is_secret",
    [
        ("GOOGLE_APPLICATION_CREDENTIALS", "keys/service-account.json", False),
        ("GOOGLE_APPLICATION_CREDENTIALS", "Kf83jd02mQ7xl4Zr9TbW1nYc6VsEp05HgUaD", True),
        ("MAPBOX_TOKEN", "pk.eyJ1IjoiYW5uIiwiYSI6ImNsZjgzamQwMiJ9.Kf83jd02mQ7xl4Zr9TbW1n", False),
        ("MAPBOX_TOKEN", "sk.eyJ1IjoiYW5uIiwiYSI6ImNsZjgzamQwMiJ9.Kf83jd02mQ7xl4Zr9TbW1n", True),
    ],
)
def test_paths_and_public_tokens_are_no_secrets(name: str, value: str, is_secret: bool) -> None:
    """A path of a key file, and a token that every page has, need no variable."""
    assert bool(credentials_in(value, name)) is is_secret
    assert bool(credentials_in(f"Bearer {value}", "Authorization")) is is_secret


def test_a_link_to_a_locked_skill_is_information(tmp_path: Path) -> None:
    """A program installs what its lock lists; a link to anything else is broken."""
    (tmp_path / ".claude/skills").mkdir(parents=True)
    for name in ("look", "lost"):
        (tmp_path / ".claude/skills" / name).symlink_to(f"../../.agents/skills/{name}")
    outcome = check(tmp_path, {"skills-lock.json": json.dumps({"version": 1, "skills": {"look": LOCKED}})})
    found = {one.subject or one.message: one.severity for one in outcome.diagnostics if one.rule.code == "OCT122"}
    assert sorted(found.values()) == [Severity.INFO, Severity.WARNING]


@pytest.mark.parametrize(
    "path, severity",
    [(".mcp.json", "warning"), (".claude/skills/look/SKILL.md", "warning"), (".codex/config.toml", "error")],
)
def test_a_byte_that_some_clients_replace_is_a_warning(tmp_path: Path, path: str, severity: str) -> None:
    """Readers in JavaScript take a file with a byte that is not UTF-8, and Codex does not."""
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_bytes(b"caf\xe9")
    outcome = check(tmp_path, {})
    assert [(one.rule.code, one.severity.label) for one in outcome.diagnostics] == [("OCT103", severity)]


def test_scripts_and_headers_that_may_be_there(tmp_path: Path) -> None:
    """What a build makes, git ignores or the user has, an empty header of no credential and a reference are meant."""
    headers = {"X-Team": "", "Authorization": "Bearer ${TOKEN}", "X-Key": "${KEY}"}
    servers = {
        "built": {"command": "node", "args": ["./dist/server.js"]},
        "ignored": {"command": "python", "args": ["local/server.py"]},
        "above": {"command": "bash", "args": ["tools/run.sh"]},
        "elsewhere": {"command": "bash", "args": ["/opt/notes/run.sh"]},
        "moved": {"command": "bash", "args": ["gone/run.sh"], "cwd": "../other"},
        "remote": {"type": "http", "url": "https://a.example/${A:-b c}", "headers": headers},
        "proxy": {"command": "npx", "args": ["mcp-remote@0.1.38", "${URL}", "--header", "Authorization:${AUTH}"]},
    }
    files = {".gitignore": "local/\n", "tools/run.sh": "true\n"}
    files |= {"web/.mcp.json": json.dumps({"mcpServers": servers}), ".git/HEAD": ""}
    assert codes(check(tmp_path, files)) == set()
