"""What kind of file a path is, when no octoc.toml says: by its path, and else by its content."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import attrs

from octoc.compiler.expand.expanded_file import EXPANDED_FILE
from octoc.compiler.inputs.agents.octo import AGENT_FILE
from octoc.compiler.inputs.dialects import Dialects
from octoc.compiler.model.documents import NO_DIALECT, FileKind
from octoc.compiler.read.frontmatter import opens
from octoc.compiler.workspace.paths import WORKSPACE_FILE
from octoc.plugin.file_kinds import Dialect, DialectKind

_SERVER_LISTS = frozenset({"mcpServers", "servers"})
_EXPANDED = PurePosixPath(EXPANDED_FILE).parts
_ROUTING = (FileKind.FIXTURES, FileKind.NEEDS, FileKind.EXPANDED, FileKind.BACKGROUND, FileKind.SCOPES)
_NOT_AGENTS = frozenset({"AGENTS.md", "CLAUDE.md", "README.md", "SKILL.md"})
_OF_SKILLS = frozenset({"allowed-tools", "rules", "compatibility", "license"})

_WITH_DIALECTS: Mapping[FileKind, DialectKind] = {FileKind.MCP: "mcp", FileKind.AGENT_MD: "agent-md"}


@attrs.frozen(kw_only=True)
class Known:
    """A file's kind, its dialect, and what its path says (as `FoundFile.key`)."""

    kind: FileKind
    dialect: Dialect = NO_DIALECT
    key: Mapping[str, str] = attrs.field(factory=dict)


def kinds_of(dialects: Dialects) -> Mapping[str, tuple[FileKind, Dialect | None]]:
    """Return what `--kind` takes: a file's kind, and its dialect where the kind has several."""
    with_dialects = {
        f"{kind}:{dialect.name}": (kind, dialect)
        for kind, name in _WITH_DIALECTS.items()
        for dialect in dialects.of_kind(name)
    }
    return {**{kind.value: (kind, None) for kind in FileKind}, **with_dialects}


def known_as(path: Path, kind: FileKind, dialects: Dialects, dialect: Dialect | None = None) -> Known:
    """Return `path` as a file of `kind`. Without a dialect its path tells."""
    folder, stem = path.parent.name, path.stem
    key = {
        FileKind.MCP: {"file": stem},
        FileKind.CAPABILITY_CONFIG: {"capability": folder},
        # By itself a provider is the one in use, whatever it is called.
        FileKind.CAPABILITY_PROVIDER: {"capability": folder, "provider": "default"},
        FileKind.AGENT_MANIFEST: {"domain": folder, "spec": stem},
        FileKind.AGENT_MD: {"folder": folder} if path.name == AGENT_FILE else {"folder": folder, "stem": stem},
        FileKind.SKILL: {"skill": folder},
        FileKind.SNAPSHOT: {"server": stem},
        **{each: {"file": stem} for each in _ROUTING},
    }
    if dialect is None and kind in _WITH_DIALECTS:
        dialect = dialects.told(_WITH_DIALECTS[kind], path)
    return Known(kind=kind, dialect=dialect or NO_DIALECT, key=key.get(kind, {}))


def kind_from_path(path: Path, dialects: Dialects) -> Known | None:
    """Return what the path, absolute, says alone: the names that clients look for. No file is opened."""
    kind = _kind_from_path(path, dialects)
    return None if kind is None else known_as(path, kind, dialects)


def _kind_from_path(path: Path, dialects: Dialects) -> FileKind | None:
    name, parts = path.name, path.parts
    if dialects.of_path("mcp", path) is not None:
        return FileKind.MCP
    if name == WORKSPACE_FILE:
        return FileKind.WORKSPACE
    if name == "SKILL.md":
        return FileKind.SKILL
    if name not in _NOT_AGENTS and dialects.of_path("agent-md", path) is not None:
        return FileKind.AGENT_MD
    if name.endswith(".toml") and parts[-3:-1] == ("routing", "needs"):
        return FileKind.NEEDS
    if parts[-2:] in (_EXPANDED, ("routing", "background.txt")):
        return FileKind.EXPANDED if name.endswith(".toml") else FileKind.BACKGROUND
    if name.endswith(".toml") and path.parent.parent.name == "capabilities":
        return FileKind.CAPABILITY_CONFIG if name == "config.toml" else FileKind.CAPABILITY_PROVIDER
    return None


def kind_from_content(path: Path, text: str, dialects: Dialects) -> Known | None:
    """Return what the content says, for files whose path says nothing. None when it could be anything."""
    kind = None
    ending = path.suffix.lower()
    if ending == ".md":
        kind = _of_markdown(path, text)
    elif ending == ".toml":
        kind = _of_toml(text)
    elif ending in (".json", ".jsonc"):
        kind = _of_json(text)
    return None if kind is None else known_as(path, kind, dialects)


def _of_markdown(path: Path, text: str) -> FileKind | None:
    if path.name in _NOT_AGENTS or not opens(text):
        return None
    keys = {line.partition(":")[0] for line in text.partition("\n---")[0].split("\n")}
    if keys & _OF_SKILLS:
        return FileKind.SKILL
    return FileKind.AGENT_MD if "name" in keys or "tools" in keys else None


def _of_toml(text: str) -> FileKind | None:
    try:
        values = tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
    if {"workspace", "taps"} & values.keys():
        return FileKind.WORKSPACE
    if isinstance(values.get("roles"), list):
        return FileKind.AGENT_MANIFEST
    if isinstance(values.get("message", values.get("search")), list):
        return FileKind.FIXTURES
    if "triggers" in values:
        return FileKind.CAPABILITY_CONFIG
    if isinstance(values.get("grants"), list) or isinstance(values.get("areas"), dict):
        return FileKind.SCOPES
    if {"roles", "mcp", "deps"} & values.keys():
        return FileKind.CAPABILITY_PROVIDER
    return None


def _of_json(text: str) -> FileKind | None:
    try:
        values: Any = json.loads(text)
    except (ValueError, RecursionError):
        # Comments are allowed in some dialects: the key is what counts.
        return FileKind.MCP if any(f'"{key}"' in text for key in _SERVER_LISTS) else None
    if not isinstance(values, dict):
        return None
    if _SERVER_LISTS & values.keys():
        return FileKind.MCP
    if {"tools", "server"} <= values.keys():
        return FileKind.SNAPSHOT
    return FileKind.OCTOPUS_EXPORT if {"areas", "agents"} <= values.keys() else None
