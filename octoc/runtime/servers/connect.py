"""Make connections: resolve references, which happens only here, and list the tools of unlisted servers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from octoc.names import BUILTIN
from octoc.runtime.servers.bindings import unbound
from octoc.runtime.servers.connection import CLOSE_S, NewConnection
from octoc.runtime.servers.unreachable import UnreachableError, unreachable

if TYPE_CHECKING:
    from pathlib import Path

    from octoc.bundle.model import ServerEntry
    from octoc.plugin import Connection, Host, ServerTarget
    from octoc.plugin.manager import Plugins
    from octoc.results import ServerListing
    from octoc.runtime.lazy_plugins import LazyPlugins
    from octoc.runtime.servers.bindings import Bindings
    from octoc.runtime.servers.builtin import BuiltinConnection
    from octoc.transport_kinds import TransportKind

logger = logging.getLogger("octoc.runtime")

_GRACE_S = 5.0
_MAX_SECRETS = 64


class Connector:
    """Connects the servers of one runtime, and remembers resolved secrets to remove them from messages.

    Args:
        bindings: the builtin servers.
        host: answers the questions of servers; None declines them.
    """

    def __init__(self, bindings: Bindings, host: Host | None = None) -> None:
        self.host = host
        self._bindings = bindings
        self._secrets: dict[str, dict[str, None]] = {}

    def secrets(self, server: str) -> tuple[str, ...]:
        """Return the values of the server's references; only the latest of values that change often."""
        return tuple(self._secrets.get(server, ()))

    async def connect(
        self,
        lazy_plugins: LazyPlugins,
        entry: ServerEntry,
        changed: Callable[[], None],
        *,
        first: bool,
        production: bool,
        workspace: Path,
    ) -> NewConnection:
        """Return a new connection. Raises: UnreachableError, after closing everything that was started.

        Args:
            changed: called, before the host's own callback, when the server reports that its tools changed.
            first: no other connection exists: then an unlisted server is asked for its tools. A server is always asked
                if changes of its tools are refused.
        """
        from octoc.plugin.transports import transport_kind  # opening a bundle connects nothing, so imports are local
        from octoc.runtime import telemetry

        plugins = lazy_plugins()
        kind = transport_kind(plugins, entry.transport)
        with telemetry.connecting(entry, kind) as watched:
            try:
                if entry.pins.unpinned == "refuse":
                    raise unreachable("not_ready", _unpinned(entry.name), final=True)
                if entry.transport == BUILTIN:
                    connection: Connection = self._builtin(entry)
                else:
                    connection = await self._remote(plugins, entry, kind, changed, workspace, production=production)
                # A tool that differs from its pin must be known before a call, on each connection.
                is_listed_now = (first and not entry.listed) or (entry.listed and entry.pins.refuses)
                listing = await self._tools(entry, connection) if is_listed_now else None
            except UnreachableError as unreached:
                watched.failed(unreached.failure.kind, unreached.failure.message)
                raise
        return NewConnection(connection=connection, listing=listing)

    def _builtin(self, entry: ServerEntry) -> BuiltinConnection:
        connection = self._bindings.of(entry.name)
        if connection is None:
            raise unreachable("not_ready", unbound(entry.name), final=True)
        return connection

    async def _remote(
        self,
        plugins: Plugins,
        entry: ServerEntry,
        kind: TransportKind,
        changed: Callable[[], None],
        workspace: Path,
        *,
        production: bool,
    ) -> Connection:
        import asyncio

        from octoc.plain_text import because
        from octoc.plugin import ConnectFailedError, PluginError
        from octoc.plugin.targets import NotReadyError, make_target
        from octoc.secrets import redact
        from octoc.transport_kinds import no_transport

        async def resolved() -> ServerTarget:
            # It runs in a thread, as a keyring may prompt its owner and a file may be on a slow disk. If this task is
            # cancelled, the thread still ends, and its result is dropped.
            async with asyncio.timeout(entry.timeout_s):
                return await asyncio.to_thread(
                    make_target,
                    entry,
                    plugins.resolve_secret,
                    workspace,
                    production=production,
                    kind=kind,
                )

        async def renewed() -> ServerTarget | None:
            try:
                fresh = await resolved()
            except (TimeoutError, NotReadyError) as error:
                logger.warning("the credentials of server `%s` were not resolved again%s", entry.name, because(error))
                return None
            self._remember(entry.name, fresh.secrets)
            return fresh

        try:
            target = await resolved()
        except TimeoutError:
            message = f"the credentials of server `{entry.name}` were not there within {entry.timeout_s:g} s"
            raise unreachable("timeout", message) from None
        except NotReadyError as missing:
            raise unreachable("not_ready", str(missing), final=True) from None
        target = attrs.evolve(target, on_secret=lambda secret: self._remember(entry.name, (secret,)), renew=renewed)
        self._remember(entry.name, target.secrets)
        try:
            transport = plugins.make_transport(entry.transport)
            if transport is None:
                raise unreachable("connect_failed", no_transport(kind, for_model=True), final=True)
            # A transport keeps the limit itself; this one is for a plugin that does not.
            async with asyncio.timeout(entry.timeout_s + _GRACE_S):
                return await transport.connect(target, self._host(entry, changed))
        except UnreachableError:
            raise
        except TimeoutError:
            raise unreachable(
                "timeout", f"server `{entry.name}` did not connect within {entry.timeout_s:g} s"
            ) from None
        except ConnectFailedError as error:
            message = redact(str(error), self.secrets(entry.name))
            raise unreachable(error.kind, message, retry_after_s=error.retry_after_s, final=error.permanent) from None
        except PluginError as error:
            raise unreachable("connect_failed", redact(str(error), self.secrets(entry.name)), final=True) from None
        except Exception as error:  # noqa: BLE001  # a plugin's own fault must not end the session
            logger.error("the transport of `%s` raised `%s`", entry.name, type(error).__name__)  # noqa: TRY400  # its text may hold a secret
            message = f"the transport of `{entry.name}` failed{because(error, self.secrets(entry.name))}"
            raise unreachable("internal", message) from None

    def _remember(self, server: str, secrets: tuple[str, ...]) -> None:
        # Two bundles may be loaded, and a value may have changed: no earlier value may show either.
        values = self._secrets.setdefault(server, {})
        for secret in secrets:
            values.pop(secret, None)
            values[secret] = None
        while len(values) > max(_MAX_SECRETS, 2 * len(secrets)):
            del values[next(iter(values))]

    def _host(self, entry: ServerEntry, changed: Callable[[], None]) -> Host:
        """Return the host for one server, without the kinds of questions that the workspace turns off."""
        from octoc.plugin import Host
        from octoc.runtime.servers.lease import asked_without_place

        host = self.host or Host()
        own, capabilities = host.tools_changed, host.capabilities
        kinds = {"elicitation": entry.elicitation, "sampling": entry.sampling, "roots": entry.roots}
        off = {kind for kind, asked in kinds.items() if asked is False}

        def tools_changed(server: str) -> None:
            changed()
            if own is not None:
                own(server)

        def allowed() -> Mapping[str, Any] | None:
            of_caller = None if capabilities is None else capabilities()
            return None if of_caller is None else {kind: one for kind, one in of_caller.items() if kind not in off}

        return attrs.evolve(
            host,
            elicit=None if "elicitation" in off else asked_without_place(host.elicit),
            sample=None if "sampling" in off else asked_without_place(host.sample),
            inputs=asked_without_place(host.inputs),
            roots=None if "roots" in off else host.roots,
            capabilities=None if capabilities is None else allowed,
            tools_changed=tools_changed,
        )

    async def _tools(self, entry: ServerEntry, connection: Connection) -> ServerListing:
        import asyncio

        from octoc.plain_text import because
        from octoc.plugin import ConnectFailedError
        from octoc.secrets import redact

        listing = None
        try:
            async with asyncio.timeout(entry.timeout_s):
                listing = await connection.list_tools()
        except TimeoutError:
            raise unreachable(
                "timeout", f"server `{entry.name}` did not list its tools within {entry.timeout_s:g} s"
            ) from None
        except ConnectFailedError as error:
            message = redact(str(error), self.secrets(entry.name))
            raise unreachable(error.kind, message, retry_after_s=error.retry_after_s, final=error.permanent) from None
        except Exception as error:  # noqa: BLE001  # a plugin's own fault must not end the session
            message = f"server `{entry.name}` could not list its tools{because(error, self.secrets(entry.name))}"
            raise unreachable("connect_failed", message) from None
        finally:
            # A failed or cancelled listing closes the connection, so that no process stays behind.
            if listing is None:
                await _end(entry, connection)
        return listing


def _unpinned(name: str) -> str:
    return f"server `{name}` has no snapshot, which production mode refuses: run `octoc pin {name}` and build again"


async def _end(entry: ServerEntry, connection: Connection) -> None:
    import asyncio

    try:
        async with asyncio.timeout(CLOSE_S):
            await connection.close()
    except Exception as error:  # noqa: BLE001  # a plugin's fault while closing must not hide why it closes
        logger.warning("server `%s` did not close: %s", entry.name, type(error).__name__)
