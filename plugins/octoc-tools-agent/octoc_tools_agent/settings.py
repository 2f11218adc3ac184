"""What a workspace sets of the tools: `[servers.octo.settings]`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.plugin.toolkit import settings_of


@attrs.frozen(kw_only=True)
class AgentToolSettings:
    """The settings of the server.

    Args:
        path: the file of plans, memories and states, relative to the workspace.
        memory_kb: how many KiB of daily memories an agent keeps for a user; the oldest go first.
        file_mb: how many MiB the file may have.
        projects: folders in which `claude_code` may work, relative to the workspace.
        seconds: how long Claude Code may take.
        inherit_env: variables that the program `claude` gets in addition to the usual ones.
    """

    path: str = attrs.field(default=".octo/agent.db", metadata={"is": "a path"})
    memory_kb: int = 1024
    file_mb: int = 256
    projects: tuple[str, ...] = attrs.field(default=(".",), metadata={"is": "a list of folders"})
    seconds: int = 1800
    inherit_env: tuple[str, ...] = attrs.field(default=(), metadata={"is": "a list of variables"})

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> AgentToolSettings:
        """Return settings as a file has them. Raises: PluginError that names the key."""
        return settings_of(cls, written)

    def file(self, workspace: Path) -> Path:
        """Return the absolute path of the file."""
        return workspace / self.path
