"""What a file is, when no octoc.toml says: by its path, and else by its content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc import toml_limits
from octoc.compiler.inputs.agents.claude import CLAUDE
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.agents.octo import OCTO, OCTO_FOLDER
from octoc.compiler.inputs.claude.plugin import is_agent_of_plugin, is_claude_s
from octoc.compiler.inputs.registry import FileKinds
from octoc.compiler.read.fences import opens
from octoc.plugin.file_kinds import NO_DIALECT, Dialect, FileKind, Syntax

SYNTAX_OF: Mapping[str, Syntax] = {
    ".md": "markdown",
    ".toml": "toml",
    ".json": "json",
    ".jsonc": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
}
"""Ending of a file's name -> what the file is written in."""


@attrs.frozen(kw_only=True)
class Known:
    """A file's kind, its dialect, and what its path says (as `FoundFile.key`)."""

    kind: FileKind
    dialect: Dialect = NO_DIALECT
    key: Mapping[str, str] = attrs.field(factory=dict)


def known_as(path: Path, kind: FileKind, kinds: FileKinds, dialect: Dialect | None = None) -> Known:
    """Return `path` as a file of `kind`. Without a dialect its path tells."""
    return Known(kind=kind, dialect=dialect or kinds.dialect_of(kind, path), key=kind.key(path))


def kinds_from_path(path: Path, kinds: FileKinds) -> list[Known]:
    """Return what the path, absolute, says alone: the names that clients look for. No file is opened."""
    return [
        Known(kind=form.kind, dialect=_reader_of(path, form.dialect), key=form.kind.key(path))
        for form in kinds.forms_of(path)
    ]


def _reader_of(path: Path, dialect: Dialect) -> Dialect:
    """Return `dialect`, or Claude Code's for an AGENT.md below a folder of agents of its plugins and marketplaces."""
    is_claude = "agents" in path.parts and is_claude_s(path)
    return CLAUDE if dialect is OCTO and OCTO_FOLDER not in path.parts and is_claude else dialect


def is_bare_agent_of_plugin(path: Path, text: str) -> bool:
    """Tell whether Markdown without front matter lies in the folder of agents of a plugin of Claude Code."""
    is_there = path.parent.name == "agents" and path.suffix == ".md" and path.name not in AGENT_MD.other_names
    return is_there and bool(text.strip()) and not opens(text) and is_agent_of_plugin(path)


def kind_from_content(path: Path, text: str, kinds: FileKinds) -> Known | None:
    """Return what the content says, for files whose path says nothing. None when it could be anything."""
    syntax = SYNTAX_OF.get(path.suffix.lower())
    if syntax is None:
        return None
    values = _values(syntax, text)
    if values is not None and path.parent.name == "agents" and syntax == "markdown":
        # Skills are in files of their own name: here such a key is a mistake, which tells nothing.
        values = {key: value for key, value in values.items() if key != "allowed-tools"}
    for kind in kinds.kinds:
        if kind.syntax != syntax or kind.recognize is None or path.name in kind.other_names:
            continue
        if kind.recognize(values) if values is not None else any(mark in text for mark in kind.marks):
            return known_as(path, kind, kinds, kinds.dialect_of_values(kind, path, values or {}))
    return None


def _values(syntax: Syntax, text: str) -> Mapping[str, Any] | None:
    """Return the values of a text, of front matter what each line has after its key; None when it cannot be parsed."""
    if syntax == "markdown":
        lines = text.partition("\n---")[0].split("\n") if opens(text) else ()
        return {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
    try:
        values: Any = toml_limits.parse(text) if syntax == "toml" else json.loads(text)
    except (ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else {}
