"""Octo's supervisor tools, `claude_code` of project agents and `task` of deep research agents: the server `octo`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from octoc.plugin import hookimpl
from octoc_tools_agent.host import HostFunctions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from octoc.plugin import PythonTool, ServerTarget
    from octoc.runtime import Runtime

__all__ = ["HostFunctions", "bind", "octoc_tools"]

SERVER = "octo"


@hookimpl
def octoc_tools(server: str, target: ServerTarget) -> Iterable[PythonTool] | None:
    """Return the tools of a server that is bound to `octo`. Raises: PluginError for settings that it does not take."""
    if server != SERVER:
        return None
    from octoc_tools_agent.settings import AgentToolSettings
    from octoc_tools_agent.tools import python_tools

    settings = AgentToolSettings.of(target.settings)
    return tuple(python_tools(settings, Path(target.cwd or ".").absolute(), HostFunctions()))


def bind(runtime: Runtime, functions: HostFunctions) -> None:
    """Give the tools of a runtime the functions of its host.

    Raises: UnknownNameError if the bundle has no server `octo`; PluginError for settings that it does not take.
    """
    from octoc_tools_agent.settings import AgentToolSettings
    from octoc_tools_agent.tools import python_tools

    entry = runtime.servers.get(SERVER)
    settings = AgentToolSettings.of({} if entry is None else entry.settings)
    runtime.bind(SERVER, python_tools(settings, runtime.workspace, functions))
