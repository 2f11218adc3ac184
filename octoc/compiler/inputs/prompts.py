"""Prompts that a user calls by name: commands, workflows and prompt files of clients, and rules of rarer clients.

octoc reads them as plain text, for characters that people do not see. So it does with Markdown without front matter in
folders of agents: clients take it as a prompt, or other files name it.

The paths are those that the clients are known for: no version of a client's source or documentation was read for this
list, and no finding depends on more than that a file at the path is handed to a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import attrs

from octoc.compiler.inputs.agents.claude import CLAUDE
from octoc.compiler.inputs.agents.keys import CLIENT_AGENTS
from octoc.compiler.inputs.claude.plugin import PLUGIN_FILE
from octoc.compiler.inputs.instructions import read_instructions
from octoc.compiler.inputs.mcp.gemini import EXTENSION_FILE
from octoc.compiler.inputs.settings.commands import GEMINI_COMMAND
from octoc.compiler.inputs.skill import PROSE_FILES
from octoc.compiler.read.fences import opens
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.plugin.file_kinds import Dialect, FileKind, project_of

_AGENTS = (
    *CLAUDE.patterns[:1],
    *(one for dialect in CLIENT_AGENTS if not dialect.beside for one in dialect.patterns if one.endswith(".md")),
)


def read_prompt(text: str, place: Place, sink: DiagnosticSink) -> Mapping[str, Any] | None:
    """Return the text as it is; None of an agent with front matter, which is read as one."""
    is_agent = opens(text) and project_of(PurePath(place.file), _AGENTS) is not None
    return None if is_agent else read_instructions(text, place, sink)


PROMPT = FileKind(
    name="prompt-file",
    syntax="lines",
    schema={"type": "object"},
    read=read_prompt,
    patterns=(
        *(".claude/commands/**/*.md", ".codex/prompts/*.md", ".gemini/commands/**/*.md"),
        *(".claude/output-styles/*.md", ".github/prompts/**/*.prompt.md", "*.prompt.md"),
        *(".cursor/commands/**/*.md", ".opencode/command/**/*.md", ".opencode/commands/**/*.md"),
        *(".windsurf/workflows/*.md", ".clinerules/workflows/*.md", ".roo/commands/*.md"),
        *(".kilocode/rules/**/*.md", ".kilocode/workflows/*.md", ".factory/commands/**/*.md", ".qwen/commands/**/*.md"),
        *(".amazonq/rules/**/*.md", ".amazonq/prompts/*.md", ".augment/commands/**/*.md", ".augment/rules/**/*.md"),
        *(".continue/rules/**/*.md", ".continue/prompts/**/*.md", ".trae/rules/*.md", ".kiro/prompts/*.md"),
        *_AGENTS,
        *(".agent/rules/*.md", ".agent/workflows/*.md", ".agents/rules/*.md", ".agents/workflows/*.md"),
    ),
    other_names=PROSE_FILES,
    key=lambda _: {},
    scan="everywhere",
    is_complete=True,
    is_prose=True,
    is_optional=True,
)
PROMPT_OF_PLUGIN = Dialect(
    kind=PROMPT.name,
    name="plugin",
    client="Claude Code",
    patterns=("commands/*.md", "commands/*/*.md"),
    beside=(f"../{PLUGIN_FILE}", f"../../{PLUGIN_FILE}"),
)
EXTENSION_COMMAND = attrs.evolve(
    GEMINI_COMMAND,
    name="gemini-extension-command",
    patterns=("commands/*.toml", "commands/*/*.toml"),
    beside=(f"../{EXTENSION_FILE}", f"../../{EXTENSION_FILE}"),
)
"""Commands of an extension, in `commands/` beside its manifest, or in a folder there."""
