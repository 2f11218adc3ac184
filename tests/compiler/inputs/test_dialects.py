"""Dialects: which file is whose, and those that a plugin adds."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.compiler.inputs.registry import FileKinds
from octoc.plugin import Dialect, hookimpl
from octoc.plugin.manager import plugins_of

ACME = Dialect(
    kind="mcp",
    name="acme",
    client="Acme",
    patterns=(".acme/settings/mcp.json", "acme.json"),
    server_list="servers",
    reads_comments=True,
    reserved_names=frozenset({"acme"}),
)


class AcmePlugin:
    """A plugin that brings a client's dialect, one with octoc's own name, and one of octoc's own file."""

    @hookimpl
    def octoc_file_kinds(self) -> Iterable[Dialect]:
        own_file = Dialect(kind="mcp", name="thief", client="Thief", patterns=(".mcp.json",))
        return (ACME, Dialect(kind="mcp", name="cursor", client="Another", patterns=("x.json",)), own_file)


@pytest.mark.parametrize(
    "kind, path, name, project",
    [
        ("mcp", "/p/.mcp.json", "claude", "/p"),
        ("mcp", "/p/.octo/.mcp.json", "claude", "/p"),
        ("mcp", "/p/.vscode/mcp.json", "vscode", "/p"),
        ("mcp", "/p/.cursor/mcp.json", "cursor", "/p"),
        ("mcp", "/p/mcp.json", None, None),
        ("mcp", "/p/claude_desktop_config.json", "claude-desktop", "/p"),
        ("mcp", "/p/.codex/config.toml", "codex", "/p"),
        ("mcp", "/p/capabilities/x/config.toml", None, None),
        ("mcp", "/p/opencode.jsonc", "opencode", "/p"),
        ("mcp", "/p/.opencode/opencode.json", "opencode", "/p"),
        ("mcp", "/p/.gemini/settings.json", "gemini", "/p"),
        ("mcp", "/p/gemini-extension.json", "gemini", "/p"),
        ("mcp", "/p/.zed/settings.json", "zed", "/p"),
        ("mcp", "/p/.claude/settings.json", None, None),
        ("mcp", "/p/managed-mcp.json", "claude-managed", "/p"),
        ("mcp", "/p/.claude-plugin/plugin.json", "plugin-manifest", "/p"),
        ("mcp", "/p/.kiro/settings/mcp.json", "kiro", "/p"),
        ("mcp", "/p/.amazonq/mcp.json", "amazon-q", "/p"),
        ("mcp", "/p/.junie/mcp/mcp.json", "junie", "/p"),
        ("mcp", "/p/.roo/mcp.json", "roo", "/p"),
        ("mcp", "/p/cline_mcp_settings.json", "cline", "/p"),
        ("mcp", "/p/.trae/mcp.json", "trae", "/p"),
        ("mcp", "/p/.windsurf/mcp_config.json", "windsurf", "/p"),
        ("mcp", "/p/.windsurf/mcp.json", "windsurf", "/p"),
        ("mcp", "/p/.factory/mcp.json", "factory", "/p"),
        ("mcp", "/p/.qwen/settings.json", "qwen", "/p"),
        ("mcp", "/p/.tabnine/agent/settings.json", "tabnine", "/p"),
        ("mcp", "/p/.augment/settings.local.json", "augment", "/p"),
        ("mcp", "/p/.iflow/settings.json", "iflow", "/p"),
        ("client-agent", "/p/.kilo/agents/look.md", "kilo", "/p"),
        ("client-agent", "/p/.qwen/agents/look.md", "qwen", "/p"),
        ("mcp", "/p/.kilo/kilo.jsonc", "kilo", "/p"),
        ("mcp", "/p/.kilocode/mcp.json", "kilo-legacy", "/p"),
        ("mcp", "/p/.agents/mcp_config.json", "antigravity", "/p"),
        ("mcp", "/p/.gemini/config/mcp_config.json", "antigravity", "/p"),
        ("mcp", "/p/.pi/agent/mcp.json", "pi", "/p"),
        ("mcp", "/p/dot_codex/config.toml", "codex", "/p"),
        ("mcp", "/p/dot_config/opencode/opencode.json", "opencode", "/p/dot_config/opencode"),
        ("mcp", "/p/dot_codex/private_config.toml", "codex", "/p"),
        ("mcp", "/p/dot_codex/config.toml.tmpl", None, None),
        ("mcp", "/p/dot_codex/modify_config.toml", None, None),
        ("mcp", "/p/.vibe/config.toml", "vibe", "/p"),
        ("mcp", "/p/.claude/.mcp.json", "claude-unread", "/p"),
        ("mcp", "/p/mcp_config.json", None, None),
        ("mcp", "/p/.github/mcp.json", "copilot", "/p"),
        ("mcp", "/p/.docker/mcp/registry.yaml", "docker-registry", "/p"),
        ("mcp", "/p/mcp_agent.secrets.yaml", "mcp-agent-secrets", "/p"),
        ("agent-md", "/p/agents/scout/AGENT.md", "octo", "/p/agents/scout"),
        ("agent-md", "/p/.claude/agents/one.md", "claude", "/p"),
        ("agent-md", "/p/.claude/agents/team/two.md", "claude", "/p"),
        ("agent-md", "/p/.claude/agents/team/AGENT.md", "claude", "/p"),
        ("agent-md", "/p/agents/one.md", None, None),
        ("agent-md", "/p/.claude/commands/one.md", None, None),
        ("client-agent", "/p/.github/agents/a.md", "copilot", "/p"),
        ("client-agent", "/p/agents/a.agent.md", "copilot", "/p/agents"),
        ("client-agent", "/p/.codex/agents/team/a.toml", "codex", "/p"),
        ("client-agent", "/p/.opencode/agent/a.md", "opencode", "/p"),
        ("client-agent", "/p/.opencode/agents/a.agent.md", "opencode", "/p"),
        ("client-agent", "/p/.cursor/agents/a.md", "cursor", "/p"),
        ("client-agent", "/p/.gemini/agents/a.md", "gemini", "/p"),
        ("client-agent", "/p/.gemini/agents/team/a.md", None, None),
        ("client-agent", "/p/.kiro/agents/a.md", "kiro", "/p"),
        ("client-agent", "/p/.kiro/agents/a.json", "kiro-json", "/p"),
        ("client-agent", "/p/.factory/droids/a.md", "factory", "/p"),
        ("client-agent", "/p/.amazonq/cli-agents/a.json", "amazon-q", "/p"),
        ("client-agent", "/p/.github/agents/README.md", None, None),
        ("mcp", "/p/.acme/settings/mcp.json", "acme", "/p"),
        ("mcp", "/p/x.json", None, None),
    ],
)
def test_a_path_tells_the_dialect_and_the_project(kind: str, path: str, name: str | None, project: str | None) -> None:
    """Patterns count from the project's folder; a plugin takes neither names nor files of octoc's own dialects."""
    forms = FileKinds(plugins_of(AcmePlugin())).forms_of(PurePosixPath(path))
    found = next((form for form in forms if form.kind.name == kind), None)
    assert (found and found.dialect.name) == name
    if found is not None:
        assert found.dialect.project_of(PurePosixPath(path)) == PurePosixPath(project or "")


def test_a_plugins_dialect_is_checked_like_any_other(tmp_path: Path) -> None:
    """A scan finds its file, comments are allowed, its key holds the servers, and its names are reserved."""
    file = tmp_path / ".acme/settings/mcp.json"
    file.parent.mkdir(parents=True)
    file.write_text('{\n  // ours\n  "servers": {"acme": {"command": "acme-mcp"}}\n}\n', encoding="utf-8")
    (tmp_path / "acme.json").write_text('{"mcpServers": {}}', encoding="utf-8")
    plugins = plugins_of(AcmePlugin())
    found = check_target(CheckTarget(root=tmp_path, folder=tmp_path), plugins=plugins, use_cache=False).diagnostics
    messages = {one.message for one in found}
    assert "a comment is not JSON: other clients refuse the file" in messages
    assert "Acme reads `servers`, and not `mcpServers`" in messages
    assert "server name `acme` is reserved: Acme skips the server" in messages
    named = CheckTarget(root=tmp_path, file=file, kind="mcp:acme")
    alone = check_target(named, plugins=plugins, use_cache=False).diagnostics
    assert "OCT108" in {one.rule.code for one in alone}
