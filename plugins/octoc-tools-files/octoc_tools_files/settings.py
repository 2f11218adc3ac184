"""What a workspace sets of the tools: `[servers.NAME.settings]`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.plugin import PluginError
from octoc.plugin.toolkit import did_you_mean, name_list

ANY_PROGRAM = "*"


@attrs.frozen(kw_only=True)
class FileToolSettings:
    """The settings of one server.

    Args:
        root: the folder of the tools, relative to the workspace.
        programs: names or absolute paths of the programs that `Bash` starts; `*` allows every program, and without any
            there is no `Bash`.
        seconds: how long a command may take.
        processes: how many processes a command may have at once.
        memory_mb: how many MiB of memory they may have together.
        hard_links: whether files with several names are opened.
    """

    root: str = "."
    programs: tuple[str, ...] = ()
    seconds: int = 120
    processes: int = 64
    memory_mb: int = 1024
    hard_links: bool = False

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> FileToolSettings:
        """Return settings as a file has them. Raises: PluginError that names the key."""
        fields = attrs.fields_dict(cls)
        for key, value in written.items():
            if key not in fields:
                near = did_you_mean(key, fields)
                raise PluginError(f"unknown setting `{key}`: {near or f'expected {name_list(sorted(fields))}'}")
            problem = _problem(value, fields[key].default)
            if problem:
                raise PluginError(f"`{key}` must be {problem}")
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in written.items()
        }
        return cls(**values)

    def folder(self, workspace: str) -> str:
        """Return the folder of the tools, absolute, links followed."""
        return os.path.realpath(f"{Path(workspace, self.root)}")


def _problem(value: Any, default: Any) -> str:
    """Return what a value should be; empty if it is that."""
    match default:
        case bool():
            return "" if isinstance(value, bool) else "true or false"
        case int():
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            return "" if is_whole and value > 0 else "a whole number above 0"
        case str():
            return "" if isinstance(value, str) and value else "a path"
    is_names = isinstance(value, (list, tuple)) and all(isinstance(one, str) and one for one in value)
    return "" if is_names else "a list of programs"
