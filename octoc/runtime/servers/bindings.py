"""The builtin servers of a runtime, with the tools of the host or of plugins."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from octoc.lists import name_list

if TYPE_CHECKING:
    from octoc.plugin import PythonTool
    from octoc.runtime.servers.builtin import BuiltinConnection

logger = logging.getLogger("octoc.runtime")


def unbound(*servers: str) -> str:
    """Return the words for builtin servers without tools, and how to bind them."""
    how = " and ".join(f'`runtime.bind("{server}", tools)`' for server in servers)
    noun = "server" if len(servers) == 1 else "servers"
    return f"nothing is bound to builtin {noun} {name_list(servers)}: the host binds tools by {how}, or a plugin does"


def _refuse_others(server: str, tools: Iterable[object]) -> None:
    """Raises: TypeError, for anything but a PythonTool."""
    from octoc.plugin import PythonTool

    for tool in tools:
        if not isinstance(tool, PythonTool):
            form = "octoc.plugin.PythonTool(name=…, description=…, input_schema=…, handler=…)"
            raise TypeError(f"a tool of builtin server `{server}` is {tool!r}: wrap it in {form}")


class Bindings:
    """The connections to builtin servers, by name.

    Args:
        plugin_tools: returns the tools that plugins bind to a server, for servers that the host did not bind. Raises:
            PluginError.
    """

    def __init__(self, plugin_tools: Callable[[str], Iterable[PythonTool]]) -> None:
        self._plugin_tools = plugin_tools
        self._bound: dict[str, BuiltinConnection | None] = {}
        self._by_plugins: set[str] = set()

    def bind(self, server: str, tools: Iterable[PythonTool]) -> BuiltinConnection:
        """Replace a server's tools; its connection stays the same, as it may be in use. Raises: TypeError."""
        from octoc.runtime.servers.builtin import BuiltinConnection

        tools = tuple(tools)
        _refuse_others(server, tools)
        self._by_plugins.discard(server)
        connection = self._bound.get(server)
        if connection is None:
            connection = self._bound[server] = BuiltinConnection(server, ())
        connection.bind(tools)
        return connection

    def of(self, server: str) -> BuiltinConnection | None:
        """Return the connection that the host, or else a plugin, binds to a server. None is logged once."""
        if server not in self._bound:
            from octoc.plugin import PluginError
            from octoc.runtime.servers.builtin import BuiltinConnection

            try:
                tools = tuple(self._plugin_tools(server))
            except PluginError as error:
                logger.warning("the tools of builtin server `%s` are not there: %s", server, error)
                tools = ()
            self._bound[server] = BuiltinConnection(server, tools) if tools else None
            self._by_plugins.add(server)
            if not tools:
                logger.info("%s", unbound(server))
        return self._bound[server]

    def forget(self, server: str) -> None:
        """Ask the plugins again when a server whose tools the host did not bind is next needed."""
        if server in self._by_plugins:
            self._by_plugins.discard(server)
            del self._bound[server]

    def items(self) -> list[tuple[str, BuiltinConnection]]:
        """Return the servers that something is bound to, with their connections."""
        return [(server, connection) for server, connection in self._bound.items() if connection is not None]
