"""Making a connection: references are resolved here and nowhere earlier, and unlisted tools are taken in."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from octoc.bundle.model import ServerEntry
from octoc.plugin import ConnectionFailed, PluginError
from octoc.results import FailureKind
from octoc.runtime.builtin import BuiltinConnection
from octoc.runtime.pool import Unreachable
from octoc.runtime.results import failure, redact

if TYPE_CHECKING:
    from octoc.plugin import Connection
    from octoc.runtime.generation import Generation

logger = logging.getLogger("octoc.runtime")

BUILTIN = "builtin"
_GRACE_S = 5.0


class Connector:
    """Connects the servers of one runtime; what it resolved is remembered to keep it out of messages."""

    def __init__(self, generation: Generation, workspace: Path) -> None:
        self._generation = generation
        self._workspace = workspace
        self._secrets: dict[str, tuple[str, ...]] = {}

    def secrets(self, server: str) -> tuple[str, ...]:
        """Return the values that the server's references were resolved to."""
        return self._secrets.get(server, ())

    async def __call__(self, server: str) -> Connection:
        """Return a new connection to `server`. Raises: Unreachable."""
        entry = self._generation.servers[server]
        connection = self._builtin(entry) if entry.transport == BUILTIN else await self._remote(entry)
        if entry.transport == BUILTIN or not entry.listed:
            await self._take_tools(entry, connection)
        return connection

    def _builtin(self, entry: ServerEntry) -> BuiltinConnection:
        connection = self._generation.runtime.bound(entry.name)
        if connection is None:
            raise _unreachable("not_ready", f"nothing is bound to the builtin server `{entry.name}`")
        return connection

    async def _remote(self, entry: ServerEntry) -> Connection:
        import asyncio

        # Not at the top: opening a bundle connects nothing.
        from octoc.plugin.targets import NotReady, make_target

        try:
            target = make_target(entry, self._generation.runtime.lookup, self._workspace)
        except NotReady as missing:
            raise _unreachable("not_ready", str(missing)) from None
        self._secrets[entry.name] = target.secrets
        try:
            transport = self._generation.plugins.make_transport(entry.transport)
            if transport is None:
                raise _unreachable(
                    "connect_failed",
                    f"no installed plugin connects to servers of kind `{entry.transport}`: "
                    "run `pip install octoc-transport-mcp`",
                )
            # A transport keeps the limit itself; this one is for a plugin that does not.
            async with asyncio.timeout(entry.timeout_s + _GRACE_S):
                return await transport.connect(target, self._generation.runtime.host)
        except Unreachable:
            raise
        except TimeoutError:
            raise _unreachable(
                "connect_failed", f"server `{entry.name}` did not connect within {entry.timeout_s:g} s"
            ) from None
        except (ConnectionFailed, PluginError) as error:
            raise _unreachable("connect_failed", redact(str(error), self.secrets(entry.name))) from None
        except Exception as error:  # noqa: BLE001  # a plugin's own fault must not take the session down
            message = f"the transport of `{entry.name}` failed: {type(error).__name__}: {error}"
            raise _unreachable("internal", redact(message, self.secrets(entry.name))) from None

    async def _take_tools(self, entry: ServerEntry, connection: Connection) -> None:
        import asyncio

        taken = False
        try:
            async with asyncio.timeout(entry.timeout_s):
                self._generation.catalog.join(entry, await connection.list_tools())
            taken = True
        except TimeoutError:
            raise _unreachable(
                "connect_failed", f"server `{entry.name}` did not list its tools within {entry.timeout_s:g} s"
            ) from None
        except Exception as error:  # noqa: BLE001  # a plugin's own fault must not take the session down
            raise _unreachable("connect_failed", redact(str(error), self.secrets(entry.name))) from None
        finally:
            # Also when this task is cancelled: a connection that nobody gets would leave its process behind.
            if not taken:
                await connection.close()


def _unreachable(kind: FailureKind, message: str) -> Unreachable:
    return Unreachable(failure(kind, message))
