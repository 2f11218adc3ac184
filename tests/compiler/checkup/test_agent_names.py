"""Names and forms of agents in folders of clients, which only the other agents of a folder explain."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.diagnostics.rule import Severity

CODEX = 'name = "{}"\ndescription = "Reviews a change"\ndeveloper_instructions = "Review."\n'
COPILOT = "---\nname: {}\ndescription: Reviews a change\nhandoffs:\n  - label: Next\n    agent: {}\n---\nReview.\n"
CLAUDE = "---\nname: {}\ndescription: Reviews a change\n---\nYou review.\n"
PLAIN = "# Executor\n\nRun the command, and report its result.\n"
KIRO = '{{"name": "{}", "description": "Reviews a change"}}'
GEMINI = "---\nname: {}\ndescription: Reviews a change\n---\nReview.\n"
PLUGIN = {"tool/.claude-plugin/plugin.json": '{"name": "tool", "version": "1.0.0"}'}
PLACE, GITHUB = ".claude/agents/", ".github/agents/"


@pytest.mark.parametrize(
    "files, expected",
    [
        ({".codex/agents/a.toml": CODEX.format("heap"), ".codex/agents/b.toml": CODEX.format("heap")}, ["OCT306"]),
        ({".codex/agents/a.toml": CODEX.format("heap"), "b/.codex/agents/a.toml": CODEX.format("heap")}, []),
        ({".kiro/agents/a.json": KIRO.format("heap"), ".kiro/agents/b.json": KIRO.format("heap")}, ["OCT306"]),
        ({".kiro/agents/a.json": KIRO.format("heap"), ".kiro/agents/a.md": GEMINI.format("heap")}, []),
        ({".gemini/agents/a.md": GEMINI.format("heap"), ".gemini/agents/b.md": GEMINI.format("heap")}, ["OCT306"]),
        ({".qwen/agents/a.md": GEMINI.format("heap"), ".qwen/agents/b.md": GEMINI.format("heaps")}, []),
        ({".factory/droids/a.md": GEMINI.format("heap"), ".factory/droids/b.md": GEMINI.format("heap")}, ["OCT306"]),
        ({"codex/agents/a.toml": CODEX.format("heap"), "codex/agents/b.toml": CODEX.format("heap")}, ["OCT306"]),
        ({f"{GITHUB}a.agent.md": "---\nname: a\n---\nReview.\n"}, ["OCT202"]),
        ({f"{GITHUB}a.chatmode.md": "---\ntools: []\n---\nReview.\n"}, []),
        (PLUGIN | {"tool/agents/executor.md": PLAIN}, ["OCT112"]),
        (PLUGIN | {"tool/agents/a.md": PLAIN, "tool/agents/b.md": PLAIN}, []),
        (PLUGIN | {"tool/agents/README.md": PLAIN}, []),
        ({"tool/agents/executor.md": PLAIN}, []),
        (
            {f"{GITHUB}a.agent.md": COPILOT.format("a", "portal-experts"), f"{GITHUB}portal-expert.agent.md": CLAUDE},
            ["OCT350"],
        ),
        ({f"{GITHUB}a.agent.md": COPILOT.format("a", "b"), f"{GITHUB}b.agent.md": CLAUDE.format("Other")}, []),
        ({f"{GITHUB}a.agent.md": COPILOT.format("a", "Plan"), f"{GITHUB}b.agent.md": CLAUDE.format("b")}, []),
        ({f"{PLACE}{one}.md": CLAUDE.format(one) for one in "ab"} | {f"{PLACE}executor.md": PLAIN}, ["OCT112"]),
        ({f"{PLACE}{one}.md": CLAUDE.format(one) for one in "ab"} | {f"{PLACE}use.md": "# Review standards\n"}, []),
        ({f"{PLACE}a.md": CLAUDE.format("a"), f"{PLACE}executor.md": PLAIN, f"{PLACE}other.md": PLAIN}, []),
    ],
)
def test_agents_of_one_folder(tmp_path: Path, files: Mapping[str, str], expected: list[str]) -> None:
    """Two of one name, a handoff to a slip, and a lone agent without front matter are warnings; others are meant."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace("{}", "Portal"), encoding="utf-8")
    found = check_target(CheckTarget(root=tmp_path, folder=tmp_path), use_cache=False).diagnostics
    assert [one.rule.code for one in found if one.severity.label != "info"] == expected


@pytest.mark.parametrize(
    "path, front, rule",
    [
        ("agents/look.md", "allowed-tools: Read", "OCT746"),
        (".github/agents/look.agent.md", "tools: 5", "OCT203"),
        (".factory/droids/look.md", "tools: 5", "OCT203"),
        (".kiro/agents/look.md", "tools: 5", "OCT203"),
        (".qwen/agents/look.md", "tools: [raed_file]", "OCT321"),
    ],
)
def test_mistakes_in_front_matter(tmp_path: Path, path: str, front: str, rule: str) -> None:
    """A key of skills in a plugin's agent, tools that are a number, and a slip of a tool's name are warnings."""
    manifest = '{"name": "acme", "version": "1.0.0", "description": "d", "author": {"name": "a"}}'
    files = {path: f"---\nname: look\ndescription: Reviews a change\n{front}\n---\nYou review.\n"}
    files |= {".claude-plugin/plugin.json": manifest} if path.startswith("agents") else {}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    outcome = check_target(CheckTarget(root=tmp_path, folder=tmp_path), use_cache=False)
    assert [one.rule.code for one in outcome.diagnostics if one.severity > Severity.INFO] == [rule]
