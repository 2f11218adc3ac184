"""Making a connection: references are resolved here and nowhere earlier, and unlisted tools are taken in."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.model import ServerEntry
from octoc.plugin import ConnectionFailed, PluginError, ServerTarget
from octoc.references import Lookup, builtins_of, expand
from octoc.results import FailureKind
from octoc.runtime.builtin import BuiltinConnection
from octoc.runtime.pool import Unreachable
from octoc.runtime.results import failure, redact

if TYPE_CHECKING:
    from octoc.plugin import Connection
    from octoc.runtime.load import Runtime

logger = logging.getLogger("octoc.runtime")

BUILTIN = "builtin"
_GRACE_S = 5.0


class Connector:
    """Connects the servers of one runtime; what it resolved is remembered to keep it out of messages."""

    def __init__(self, runtime: Runtime, workspace: Path) -> None:
        self._runtime = runtime
        self._workspace = workspace
        self._secrets: dict[str, tuple[str, ...]] = {}

    def secrets(self, server: str) -> tuple[str, ...]:
        """Return the values that the server's references were resolved to."""
        return self._secrets.get(server, ())

    async def __call__(self, server: str) -> Connection:
        """Return a new connection to `server`. Raises: Unreachable."""
        entry = self._runtime.servers[server]
        connection = self._builtin(entry) if entry.transport == BUILTIN else await self._remote(entry)
        if entry.transport == BUILTIN or not entry.listed:
            await self._take_tools(entry, connection)
        return connection

    def _builtin(self, entry: ServerEntry) -> BuiltinConnection:
        connection = self._runtime.bound(entry.name)
        if connection is None:
            raise _unreachable("not_ready", f"nothing is bound to the builtin server `{entry.name}`")
        return connection

    async def _remote(self, entry: ServerEntry) -> Connection:
        import asyncio

        target = self._target(entry)
        try:
            transport = self._runtime.plugins.make_transport(entry.transport)
            if transport is None:
                raise _unreachable(
                    "connect_failed",
                    f"no installed plugin connects to servers of kind `{entry.transport}`: "
                    "run `pip install octoc-transport-mcp`",
                )
            # A transport keeps the limit itself; this one is for a plugin that does not.
            async with asyncio.timeout(entry.timeout_s + _GRACE_S):
                return await transport.connect(target)
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
                self._runtime.catalog.join(entry, await connection.list_tools())
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

    def _target(self, entry: ServerEntry) -> ServerTarget:
        """Return the server with every reference resolved. Raises: Unreachable, naming what is not set."""
        resolving = _Resolving(self._runtime.lookup, builtins_of(self._workspace.as_posix(), Path.home().as_posix()))
        env = dict(resolving.mapping(entry.env))
        if entry.env_file is not None:
            env = {**self._env_file(entry, resolving.text(entry.env_file)), **env}
            resolving.values.update(dict.fromkeys(env.values()))
        target = ServerTarget(
            name=entry.name,
            transport=entry.transport,
            command=resolving.optional(entry.command),
            args=tuple(resolving.text(argument) for argument in entry.args),
            env=env,
            cwd=self._folder(resolving.optional(entry.cwd)),
            url=resolving.optional(entry.url),
            headers=resolving.mapping(entry.headers),
            auth=None if entry.auth is None else resolving.plain(entry.auth),
            timeout_s=entry.timeout_s,
        )
        if resolving.missing:
            names = ", ".join(f"`{name}`" for name in resolving.missing)
            raise _unreachable("not_ready", f"server `{entry.name}` needs {names}, which is not set")
        self._secrets[entry.name] = tuple(resolving.values)
        return attrs.evolve(target, secrets=tuple(resolving.values))

    def _folder(self, cwd: str | None) -> str | None:
        return None if cwd is None else str(self._workspace / cwd)

    def _env_file(self, entry: ServerEntry, name: str) -> dict[str, str]:
        try:
            return parse_env_file((self._workspace / name).read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise _unreachable(
                "not_ready", f"server `{entry.name}` needs the file `{name}`, which cannot be read: {why}"
            ) from None


def _unreachable(kind: FailureKind, message: str) -> Unreachable:
    return Unreachable(failure(kind, message))


@attrs.define
class _Resolving:
    """Expands texts, and collects what was missing and which values were put in."""

    lookup: Lookup
    builtins: Mapping[str, str]
    missing: dict[str, None] = attrs.field(factory=dict)
    values: dict[str, None] = attrs.field(factory=dict, repr=False)

    def text(self, text: str) -> str:
        done = expand(text, self.lookup, self.builtins)
        self.missing.update(dict.fromkeys(done.missing))
        self.values.update(dict.fromkeys(done.values))
        return done.text

    def optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def mapping(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {name: self.text(value) for name, value in texts.items()}

    def plain(self, value: Any) -> Any:
        """Return a JSON value with every text in it expanded."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self.plain(item) for key, item in value.items()}
        return [self.plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def parse_env_file(text: str) -> dict[str, str]:
    """Return the variables of a `.env` file: `NAME=value` lines, `export` before and quotes around allowed.

    Lines without `=` and comments are passed over; values are taken as they are, without expansion.
    """
    found = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if not equals or name.startswith("#"):
            continue
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        found[name.strip()] = value
    return found
