"""What a workspace sets of the tools: `[servers.NAME.settings]`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.plugin.toolkit import settings_of

ANY_PROGRAM = "*"


@attrs.frozen(kw_only=True)
class FileToolSettings:
    """The settings of one server.

    Args:
        root: the folder of the tools, relative to the workspace.
        research: the folder of deep research agents, relative to the workspace; octoc makes it when it is first used.
        programs: names or absolute paths of the programs that `Bash` starts; `*` allows every program, and without any
            there is no `Bash`.
        seconds: how long a command may take.
        processes: how many processes a command may have at once.
        memory_mb: how many MiB of memory they may have together.
        hard_links: whether files with several names are opened.
    """

    root: str = attrs.field(default=".", metadata={"is": "a path"})
    research: str = attrs.field(default=".octo/workspace", metadata={"is": "a path"})
    programs: tuple[str, ...] = attrs.field(default=(), metadata={"is": "a list of programs"})
    seconds: int = 120
    processes: int = 64
    memory_mb: int = 1024
    hard_links: bool = False

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> FileToolSettings:
        """Return settings as a file has them. Raises: PluginError that names the key."""
        return settings_of(cls, written)

    def folders(self, workspace: str) -> tuple[str, str]:
        """Return the folder of the tools and that of deep research agents, absolute, links followed."""
        root, research = (os.path.realpath(f"{Path(workspace, path)}") for path in (self.root, self.research))
        return root, research
