"""Plugins and marketplaces of Claude Code: names, paths, folders that are not there, and inline servers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler import build
from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity

PLUGIN = ".claude-plugin/plugin.json"
MARKETPLACE = ".claude-plugin/marketplace.json"
OWNER = {"name": "Acme"}
SCRIPT = "${CLAUDE_PLUGIN_ROOT}/a.sh"


def findings(root: Path, files: Mapping[str, Any]) -> tuple[Diagnostic, ...]:
    """Return what a scan of a folder with these files finds above information."""
    for path, values in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(values if isinstance(values, str) else json.dumps(values, indent=1), encoding="utf-8")
    outcome = check_target(CheckTarget(root=root, folder=root), use_cache=False)
    assert root / next(iter(files)) in outcome.read
    return tuple(one for one in outcome.diagnostics if one.severity > Severity.INFO)


@pytest.mark.parametrize(
    "manifest, code",
    [
        ({"name": "review"}, None),
        ({"version": "1.0.0"}, "OCT202"),
        ({"name": "my review"}, "OCT206"),
        ({"name": "@acme/review"}, "OCT206"),
        ({"name": "Review"}, None),
        ({"name": "review", "author": "Acme"}, "OCT203"),
        ({"name": "review", "keywords": "a"}, "OCT203"),
        ({"name": "review", "repository": {"type": "git"}}, "OCT203"),
        ({"name": "review", "commands": "commands"}, "OCT730"),
        ({"name": "review", "commands": ["./../shared/a.md"]}, "OCT730"),
        ({"name": "review", "commands": ["./there.md"]}, None),
        ({"name": "review", "commands": ["./gone.md"]}, "OCT731"),
        ({"name": "review", "agents": "./folder"}, "OCT730"),
        ({"name": "review", "agents": ["./there.md"]}, None),
        ({"name": "review", "skills": ["./there.md"]}, "OCT730"),
        ({"name": "review", "skills": "./folder"}, None),
        ({"name": "review", "skills": ["."]}, None),
        ({"name": "review", "mcpServers": "./gone.json"}, "OCT731"),
        ({"name": "review", "mcpServers": "./folder"}, "OCT730"),
        ({"name": "review", "mcpServers": "https://acme.example/a.mcpb"}, None),
        ({"name": "review", "mcpServers": "./dist/servers.json"}, None),
        ({"name": "review", "descripton": "a"}, "OCT208"),
        ({"name": "review", "engines": {"vscode": "1"}}, None),
        ({"name": "review", "hooks": {"hooks": {"Stopp": []}}}, "OCT729"),
        ({"name": "review", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": SCRIPT}]}]}}, "OCT731"),
        ("{", "OCT107"),
    ],
)  # fmt: skip
def test_a_manifest(tmp_path: Path, manifest: Any, code: str | None) -> None:
    """A manifest that Claude Code refuses, and a part that is not there, are errors; other keys are not."""
    found = {one.rule.code for one in findings(tmp_path, {PLUGIN: manifest, "there.md": "Hi", "folder/x.md": "Hi"})}
    assert found == ({code} if code else set())


@pytest.mark.parametrize(
    "agents, files, advice",
    [
        ("agents", ["agents/a.md"], "delete `agents`: Claude Code reads the files of `agents/` by itself"),
        ("./roles/", ["roles/a.md", "roles/b.md"], 'write `["./roles/a.md", "./roles/b.md"]`'),
        (["roles"], ["roles/a.md"], "write `./roles/a.md`"),
        ("roles/a.md", ["roles/a.md"], "write `./roles/a.md`"),
        ("./roles/a.md", ["agents/a.md"], "`agents/a.md` has that name: did you mean it?"),
    ],
)
def test_the_help_of_a_path_is_what_the_client_takes(
    tmp_path: Path, agents: Any, files: list[str], advice: str
) -> None:
    """A folder in `agents` is refused with `./` as well; a file that is at another place is named."""
    (found,) = findings(tmp_path, {PLUGIN: {"name": "review", "agents": agents}, **dict.fromkeys(files, "Hi")})
    assert found.help == advice


def test_a_script_of_a_hook_that_is_at_another_place(tmp_path: Path) -> None:
    """The help names the one file of that name in the plugin."""
    hook = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/a.sh"}
    manifest = {"name": "review", "hooks": {"Stop": [{"hooks": [hook]}]}}
    (found,) = findings(tmp_path, {PLUGIN: manifest, "scripts/a.sh": "true"})
    assert found.help == "`scripts/a.sh` has that name: did you mean it?"


def test_a_dot_as_source_is_information(tmp_path: Path) -> None:
    """Only older releases of Claude Code refuse it."""
    marketplace = {"name": "t", "owner": OWNER, "plugins": [{"name": "a", "source": "."}]}
    assert findings(tmp_path, {MARKETPLACE: marketplace}) == ()
    outcome = check_target(CheckTarget(root=tmp_path, folder=tmp_path), use_cache=False)
    assert [(one.rule.code, one.help) for one in outcome.diagnostics] == [("OCT730", "write `./`")]


def test_servers_of_a_manifest_are_checked_like_any_other(tmp_path: Path) -> None:
    """Inline servers are read with the plugin's own references, and findings have their lines."""
    servers = {
        "files": {"command": "node", "args": ["${CLAUDE_PLUGIN_ROOT}/a.js"], "env": {"KEY": "${user_config.key}"}},
        "docs": {"url": "https://docs.example/mcp"},
    }
    (found,) = findings(tmp_path, {PLUGIN: {"name": "review", "mcpServers": servers}})
    assert found.rule.code == "OCT224"
    assert found.span is not None
    assert found.span.line == 14


@pytest.mark.parametrize(
    "plugins, code",
    [
        ([{"name": "a", "source": "./a"}], None),
        ([{"name": "a", "source": "./"}], None),
        ([{"name": "a", "source": "a"}], "OCT730"),
        ([{"name": "a", "source": "./../a"}], "OCT730"),
        ([{"name": "a", "source": "./gone"}], "OCT731"),
        ([{"name": "a", "source": "./a"}, {"name": "a", "source": "./"}], "OCT210"),
        ([{"name": "a", "source": {"source": "github", "repo": "acme/a"}}], None),
        ([{"name": "a", "source": {"source": "github"}}], "OCT202"),
        ([{"name": "a", "source": {"source": "newer", "at": "x"}}], None),
        ([{"name": "a"}], "OCT202"),
        ([{"name": "a", "source": "./a", "version": "2.0.0"}], "OCT733"),
        ([{"name": "a", "source": "./a", "version": "1.0.0"}], None),
        ([{"name": "a", "source": "./a", "commands": ["./gone.md"]}], "OCT731"),
        ({}, "OCT203"),
    ],
)
def test_an_entry_of_a_marketplace(tmp_path: Path, plugins: Any, code: str | None) -> None:
    """Sources, folders, names and versions of entries are checked; a source of a newer kind is not."""
    marketplace = {"name": "team-tools", "owner": OWNER, "plugins": plugins}
    files = {MARKETPLACE: marketplace, f"a/{PLUGIN}": {"name": "a", "version": "1.0.0"}}
    found = {one.rule.code for one in findings(tmp_path, files)}
    assert found == ({code} if code else set())


def test_bare_names_are_below_the_root_of_plugins(tmp_path: Path) -> None:
    """With `metadata.pluginRoot` a source without a slash is a folder in it."""
    plugins = [{"name": "a", "source": "a"}, {"name": "b", "source": "b"}]
    marketplace = {"name": "t", "owner": OWNER, "metadata": {"pluginRoot": "./plugins"}, "plugins": plugins}
    (found,) = findings(tmp_path, {MARKETPLACE: marketplace, "plugins/a/x": ""})
    assert found.message == "plugin `b` is in `./plugins/b`, which is not there"


def test_a_path_that_counts_on_the_root_of_plugins_is_told_to_name_it(tmp_path: Path) -> None:
    """`metadata.pluginRoot` does not count for a source with a slash."""
    plugins = [{"name": "a", "source": "./a"}]
    marketplace = {"name": "t", "owner": OWNER, "metadata": {"pluginRoot": "./plugins"}, "plugins": plugins}
    (found,) = findings(tmp_path, {MARKETPLACE: marketplace, "plugins/a/x": ""})
    assert found.help == "`metadata.pluginRoot` counts only for a name without a slash: write `./plugins/a`"


@pytest.mark.parametrize("owner, codes", [("Acme", ["OCT204"]), ("Anthropic", [])])
def test_names_of_official_marketplaces_are_reserved(tmp_path: Path, owner: str, codes: list[str]) -> None:
    """Only Anthropic's own marketplaces have these names."""
    marketplace = {"name": "claude-plugins-official", "owner": {"name": owner}, "plugins": []}
    assert [one.rule.code for one in findings(tmp_path, {MARKETPLACE: marketplace})] == codes


def test_a_workspace_checks_them_and_builds_without_them(tmp_path: Path) -> None:
    """In a workspace a check reads settings and manifests, and a build does not."""
    (tmp_path / "octoc.toml").write_text('[workspace]\nname = "acme"\n', encoding="utf-8")
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text('{"permissions": {"allow": ["Graep"]}}', encoding="utf-8")
    assert [one.rule.code for one in check_target(CheckTarget(root=tmp_path), use_cache=False).diagnostics] == [
        "OCT728"
    ]

    build(tmp_path)
    assert "settings.json" not in (tmp_path / "octoc.lock").read_text(encoding="utf-8")


def test_options_are_named_as_the_manifest_asks_for_them(tmp_path: Path) -> None:
    """Servers, hooks and texts of skills name options of `userConfig`; a text may be about options of other plugins."""
    hook = {"type": "command", "command": "echo ${user_config.token}"}
    skill = "---\nname: look\ndescription: Looks into a thing\n---\nUse ${user_config.api_kay}, not ${user_config.x}.\n"
    files = {
        PLUGIN: {"name": "review", "userConfig": {"api_key": {"type": "string", "title": "Key", "description": "d"}}},
        ".mcp.json": {"mcpServers": {"a": {"command": "a", "env": {"K": "${user_config.api_ky}"}}}},
        "hooks/hooks.json": {"hooks": {"Stop": [{"hooks": [hook]}]}},
        "skills/look/SKILL.md": skill,
    }
    found = {one.span.file: (one.message, one.help) for one in findings(tmp_path, files) if one.span}
    assert found == {
        ".mcp.json": ("`${user_config.api_ky}` names no option of `userConfig`", "did you mean `api_key`?"),
        "hooks/hooks.json": ("`${user_config.token}` names no option of `userConfig`", "add `token` to `userConfig`"),
        "skills/look/SKILL.md": ("`${user_config.api_kay}` names no option of `userConfig`", "did you mean `api_key`?"),
    }


@pytest.mark.parametrize("key", ["tags", "keywords"])
def test_words_of_an_entry_are_a_list(tmp_path: Path, key: str) -> None:
    """Claude Code refuses a marketplace with a text for a list of words."""
    plugins = [{"name": "a", "source": {"source": "github", "repo": "acme/a"}, key: "a, b"}]
    found = findings(tmp_path, {MARKETPLACE: {"name": "team-tools", "owner": OWNER, "plugins": plugins}})
    assert [(one.rule.code, one.severity.label) for one in found] == [("OCT203", "error")]


@pytest.mark.parametrize(
    "version, severity",
    [
        ("1.4.0", None),
        ("2.0.0-beta.1+7", None),
        ("1.4", Severity.INFO),
        ("v2", Severity.INFO),
        ("1.4.x", Severity.WARNING),
        ("~1.4.0", Severity.WARNING),
    ],
)
def test_a_version_that_is_not_semantic(tmp_path: Path, version: str, severity: Severity | None) -> None:
    """Claude Code takes any text as a version, and documents a semantic one; one that names several is a mistake."""
    findings(tmp_path, {PLUGIN: {"name": "review", "version": version}})
    outcome = check_target(CheckTarget(root=tmp_path, folder=tmp_path), use_cache=False)
    found = [one.severity for one in outcome.diagnostics if one.rule.code == "OCT204"]
    assert found == ([] if severity is None else [severity])
