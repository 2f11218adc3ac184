"""What a user's own files define for Claude Code. Only a check with `--user` reads them; no build does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.aliases import sanitize
from octoc.compiler.inputs.mcp.claude import CLAUDE, MCP_FILE

_MAX_BYTES = 64_000_000
_BUILT_IN = frozenset(map(sanitize, (*CLAUDE.reserved_names, "ide")))
_ELSEWHERE = ("plugin_", "claude_ai_")
"""How the names of servers begin that plugins and connectors bring."""
_MANAGED = ("/etc/claude-code", "/Library/Application Support/ClaudeCode", "C:/Program Files/ClaudeCode")


@attrs.frozen(kw_only=True)
class UserScope:
    """The names that a user, or the administrator of the machine, defines; those of servers as tools have them.

    Args:
        is_complete: every file could be read, so that a name that is not here does not exist.
    """

    servers: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()
    skills: frozenset[str] = frozenset()
    is_complete: bool = True

    def may_have(self, server: str) -> bool:
        """Tell whether a server of this name, as tools have it, may be there."""
        is_elsewhere = server.startswith(_ELSEWHERE) or server.lower() in {name.lower() for name in _BUILT_IN}
        return is_elsewhere or not self.is_complete or server in self.servers


def read_user_scope(home: Path, project: Path) -> UserScope:
    """Return what the files in `home`, and those above `project`, define for a session in `project`."""
    own, project = home / ".claude", project.resolve()
    state = _values(home / ".claude.json")
    folders = [project, *project.parents]
    others = [_values(folder / MCP_FILE) for folder in folders]
    others += [_values(Path(folder, "managed-mcp.json")) for folder in _MANAGED]
    read = [state, *others]
    servers = {name for values in read if values is not None for name in _servers(values)}
    of_projects = (state or {}).get("projects")
    for folder in folders:
        of_project = of_projects.get(str(folder)) if isinstance(of_projects, dict) else None
        servers |= set(_servers(of_project) if isinstance(of_project, dict) else ())
    return UserScope(
        servers=frozenset(map(sanitize, servers)),
        agents=frozenset(_names(own.glob("agents/**/*.md"))),
        skills=frozenset(path.parent.name for path in own.glob("skills/*/SKILL.md")),
        is_complete=None not in read,
    )


def _values(path: Path) -> dict[str, Any] | None:
    """Return the values of a file: empty for a missing one, None for an unreadable one."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            return None
        values = json.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError):
        return None
    return values if isinstance(values, dict) else None


def _servers(values: Mapping[str, Any]) -> Iterable[str]:
    servers = values.get("mcpServers")
    return servers if isinstance(servers, dict) else ()


def _names(files: Iterable[Path]) -> Iterator[str]:
    for file in files:
        yield file.stem
        try:
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()[:40]
        except OSError:
            continue
        yield from (line.partition(":")[2].strip().strip("\"'") for line in lines if line.startswith("name:"))
