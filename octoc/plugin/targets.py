"""From a server's entry to what a transport connects to: references are resolved here, at the last moment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.bundle.model import ServerDefinition
from octoc.credentials import is_secret_name
from octoc.lists import name_list
from octoc.plugin.protocols import PluginError, ServerTarget
from octoc.references import Lookup, builtins_of, expand, find_references
from octoc.small_files import UnreadableFileError, small_text
from octoc.transport_kinds import STANDARD, TransportKind


class NotReadyError(Exception):
    """A server's target cannot be made; the message is one line that names what is not set or cannot be read.

    `missing` are the references without a value, such as `API_KEY` or `file:/run/key`; empty when that is not why.
    """

    def __init__(self, message: str, missing: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.missing = missing


_FILE = "file:"
_MAX_ENV_FILE_BYTES = 1024 * 1024
_ENV_SUFFIX = "_env"


def make_target(
    server: ServerDefinition,
    lookup: Lookup,
    workspace: Path,
    *,
    production: bool,
    kind: TransportKind | None = None,
) -> ServerTarget:
    """Return the server with every reference resolved. Raises: NotReadyError.

    Args:
        lookup: the value of a reference (a variable's name, `file:PATH`, …), or None; it may raise PluginError,
            which becomes NotReadyError.
        workspace: `${workspaceFolder}`, absolute; a server runs there, and a relative `cwd`, env file or `file:` starts
            there.
        production: refuse connections that are only fit for development, as `ServerTarget.production` says.
        kind: the server's kind; None when it is a standard one.
    """

    def found(reference: str) -> str | None:
        if not reference.startswith(_FILE):
            return lookup(reference)
        path = f"{workspace / reference.removeprefix(_FILE)}"
        value = lookup(f"{_FILE}{path}")
        if value is None:
            resolving.absent[path] = None
        return value

    resolving = _Resolving(found, builtins_of(workspace.as_posix(), _home()))
    try:
        return attrs.evolve(
            _made(server, resolving, workspace, kind or STANDARD[server.transport]), production=production
        )
    except PluginError as error:
        raise NotReadyError(f"server `{server.name}` is not ready: {error}") from None


def _made(server: ServerDefinition, resolving: _Resolving, workspace: Path, kind: TransportKind) -> ServerTarget:
    env = {**resolving.inherited(server.inherit_env), **resolving.mapping(server.env)}
    cwd = resolving.optional(server.cwd)
    env_file = resolving.optional(server.env_file)
    target = ServerTarget(
        name=server.name,
        transport=server.transport,
        command=resolving.optional(server.command),
        args=tuple(resolving.text(argument) for argument in server.args),
        env=env,
        cwd=str(workspace if cwd is None else workspace / cwd),
        url=resolving.optional(server.url),
        headers=resolving.mapping(server.headers),
        auth=None if server.auth is None else resolving.auth(server.auth),
        settings=resolving.plain(server.settings),
        timeout_s=server.timeout_s,
        max_body_bytes=server.max_body_bytes,
        max_elements=server.max_elements,
        era=server.era,
        login=login_of(server, kind),
    )
    if resolving.missing:
        names = name_list(resolving.missing)
        are = "is" if len(resolving.missing) == 1 else "are"
        set_ = "not set" if all(":" not in name for name in resolving.missing) else "not there"
        absent = f"; looked in {name_list(resolving.absent)}" if resolving.absent else ""
        raise NotReadyError(
            f"server `{server.name}` needs {names}, which {are} {set_}{absent}", tuple(resolving.missing)
        )
    if env_file is not None:
        read = _read_env_file(server.name, workspace, env_file)
        resolving.values.update(dict.fromkeys(value for value in read.values() if value))
        target = attrs.evolve(target, env={**read, **env})
    return attrs.evolve(target, secrets=tuple(resolving.values))


def login_of(server: ServerDefinition, transport: TransportKind) -> str:
    """Return what to do when a server refuses its credentials, to go on from `: `; empty when nothing is known.

    It is `octoc auth login` for OAuth and for a server that has no credentials yet; else the references that hold them.
    """
    auth = server.auth or {}
    kind = auth.get("type", "oauth" if auth else "")
    if kind in {"client_credentials", "bearer"}:
        held = [text for key, text in auth.items() if isinstance(text, str) and is_secret_name(key)]
        names = [auth[key] for key in auth if key.endswith(_ENV_SUFFIX) and isinstance(auth[key], str)]
    else:
        secret = [text for name, text in server.headers.items() if is_secret_name(name)]
        held, names = secret or list(server.headers.values()), []
    names += [reference.name for text in held for reference in find_references(text) if reference.kind != "builtin"]
    if kind == "oauth" or (not names and not held and transport.has_logins):
        return f"run `octoc auth login {server.name}`"
    listed = name_list(dict.fromkeys(names))
    return f"look at what {listed} holds" if listed else ""


@attrs.define
class _Resolving:
    """Expands texts, and collects what was missing and which values were put in."""

    lookup: Lookup
    builtins: Mapping[str, str]
    missing: dict[str, None] = attrs.field(factory=dict)
    absent: dict[str, None] = attrs.field(factory=dict)
    """Files that references name and that are not there, or are empty."""
    values: dict[str, None] = attrs.field(factory=dict, repr=False)

    def text(self, text: str) -> str:
        done = expand(text, self.lookup, self.builtins)
        self.missing.update(dict.fromkeys(done.missing))
        self.values.update(dict.fromkeys(done.values))
        return done.text

    def optional(self, text: str | None) -> str | None:
        return None if text is None else self.text(text)

    def inherited(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return those of the variables that are set; their values count as secrets."""
        found = {name: self.lookup(name) for name in names}
        present = {name: value for name, value in found.items() if value is not None}
        self.values.update(dict.fromkeys(value for value in present.values() if value))
        return present

    def mapping(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {name: self.text(value) for name, value in texts.items()}

    def auth(self, written: Mapping[str, Any]) -> dict[str, Any]:
        """Return an `auth` expanded. Octo's `client_secret_env` names a variable; what that holds wins if it is set."""
        auth = {key: self.plain(value) for key, value in written.items() if not key.endswith(_ENV_SUFFIX)}
        for key, named in written.items():
            if not key.endswith(_ENV_SUFFIX) or not isinstance(named, str):
                continue
            value = self.lookup(named.strip())
            if value:
                self.values[value] = None
                auth[key.removesuffix(_ENV_SUFFIX)] = value
            elif not auth.get(key.removesuffix(_ENV_SUFFIX)):
                self.missing[named.strip()] = None
        return auth

    def plain(self, value: Any) -> Any:
        """Return a JSON value with every text in it expanded."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self.plain(item) for key, item in value.items()}
        return [self.plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _read_env_file(server: str, workspace: Path, name: str) -> dict[str, str]:
    path = f"{workspace / name}"
    try:
        return parse_env_file(small_text(path, _MAX_ENV_FILE_BYTES))
    except (FileNotFoundError, UnreadableFileError) as error:
        why = error.strerror if isinstance(error, FileNotFoundError) else error
        raise NotReadyError(f"server `{server}` needs the file `{path}`, which cannot be read: {why}") from None


def _home() -> str | None:
    try:
        return Path.home().as_posix()
    except RuntimeError:  # a user without an entry and without $HOME, as a container may have
        return None


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
