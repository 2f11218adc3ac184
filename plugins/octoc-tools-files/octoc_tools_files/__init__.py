"""Octo's built-in tools `Read`, `Grep`, `Glob`, `Edit` and `Bash`, in one folder, for a builtin server `files`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from octoc.plugin import hookimpl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octoc.plugin import PythonTool, ServerTarget

__all__ = ["octoc_tools"]

SERVER = "files"


@hookimpl
def octoc_tools(server: str, target: ServerTarget) -> Iterable[PythonTool] | None:
    """Return the tools of a server that is bound to `files`. Raises: PluginError for settings that it does not take."""
    if server != SERVER:
        return None
    from octoc_tools_files.root import Root
    from octoc_tools_files.settings import FileToolSettings
    from octoc_tools_files.tools import python_tools, research_tools

    settings = FileToolSettings.of(target.settings)
    root, research = (Root(path, hard_links=settings.hard_links) for path in settings.folders(target.cwd or "."))
    return (*python_tools(root, settings), *research_tools(research, settings))
