"""Instructions that clients hand to the model whole: CLAUDE.md, AGENTS.md, rules of editors and their like.

octoc reads them as plain text, for characters that people do not see, tokens, and imports of files that are not there.

Source: Claude Code 2.1, memory; Gemini CLI 0.56, memory import processor; Qwen Code, `QWEN.md`; Cursor, rules; GitHub
Copilot, custom instructions; Windsurf, Cline, Roo Code and Junie, rules; Kiro, steering.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from octoc.compiler.inputs.claude.paths import is_missing
from octoc.compiler.read.imports import Import, imports_in
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.plugin.file_kinds import FileKind

_OF_CLAUDE = ("CLAUDE.md", "CLAUDE.local.md", ".claude/rules/**/*.md")
_OF_GEMINI = ("GEMINI.md", "QWEN.md")
_IN_THE_ROOT = ("AGENTS.md", "AGENTS.override.md", ".cursorrules", ".windsurfrules", ".clinerules", ".roorules")


def read_instructions(text: str, _: Place, __: DiagnosticSink) -> Mapping[str, Any]:
    """Return the text as it is: clients take any."""
    return {"text": text}


def importer_of(display: str) -> str:
    """Return the client that reads the imports in a file of instructions; empty where none does."""
    path = PurePosixPath(display)
    if path.name in _OF_GEMINI:
        return "Qwen Code" if path.name == "QWEN.md" else "Gemini CLI"
    is_rule = path.suffix == ".md" and "/.claude/rules/" in f"/{display}"
    return "Claude Code" if path.name in _OF_CLAUDE or is_rule else ""


def missing_imports(path: Path, text: str) -> Iterator[Import]:
    """Yield the imports in the file at `path` that name no file of the project. What is in a home folder is private."""
    folder = Path(os.path.realpath(path)).parent
    for one in imports_in(text):
        if not one.path.startswith(("/", "~")) and is_missing(folder, one.path):
            yield one


INSTRUCTIONS = FileKind(
    name="instructions",
    syntax="lines",
    schema={"type": "object"},
    read=read_instructions,
    patterns=(
        *_OF_CLAUDE,
        *_OF_GEMINI,
        *_IN_THE_ROOT,
        ".cursor/rules/**/*.mdc",
        ".github/copilot-instructions.md",
        ".github/instructions/**/*.instructions.md",
        ".windsurf/rules/*.md",
        ".clinerules/*.md",
        ".roo/rules*/*.md",
        ".junie/guidelines.md",
        ".junie/AGENTS.md",
        ".kiro/steering/*.md",
    ),
    checked_files=(
        *(*_OF_CLAUDE[:2], *_OF_GEMINI, *_IN_THE_ROOT),
        *(".claude/CLAUDE.md", ".claude/rules/*.md", ".cursor/rules/*.mdc"),
        *(".github/copilot-instructions.md", ".github/instructions/*.instructions.md"),
    ),
    key=lambda _: {},
    scan="everywhere",
    is_complete=True,
    is_prose=True,
)
