"""Stores logins: one file of tokens per server and issuer, private to this user, outside workspace and bundle."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import attrs

from octoc.plugin.toolkit import PRIVATE, write_whole

VERSION = 1
_FOLDER_MODE = 0o700


@attrs.frozen(kw_only=True)
class StoredLogin:
    """One login as in its file. Its repr shows only the issuer and `expires_at`, in seconds since the epoch.

    `tokens`, `client`, `metadata` and `resource` are OAuth's own wire objects: the token endpoint's answer, the
    registration, the authorization server's metadata and the protected resource's. `needed_scope` has the scopes,
    separated by spaces, that the server refused a request for; the next login asks for them too.
    """

    server: str = attrs.field(repr=False)
    issuer: str = ""
    tokens: dict[str, Any] = attrs.field(repr=False)
    expires_at: float | None = None
    client: dict[str, Any] | None = attrs.field(default=None, repr=False)
    metadata: dict[str, Any] | None = attrs.field(default=None, repr=False)
    resource: dict[str, Any] | None = attrs.field(default=None, repr=False)
    needed_scope: str = ""

    @property
    def can_refresh(self) -> bool:
        return bool(self.tokens.get("refresh_token")) and self.client is not None

    def is_current(self, now: float | None = None) -> bool:
        """Return whether the access token is still valid; one of unknown duration counts as valid."""
        return self.expires_at is None or (time.time() if now is None else now) < self.expires_at


def folder() -> Path:
    """Return the folder of all logins: `$XDG_STATE_HOME/octoc/oauth`, by default below `~/.local/state`."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # The XDG specification ignores a relative path.
    base = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return base / "octoc" / "oauth"


class Store:
    """The logins of one server, known by its URL and configured client id."""

    def __init__(self, server: str, client_id: str | None = None, issuer: str | None = None) -> None:
        self._server = server
        self._issuer = issuer
        self._of_server = _digest(f"{server}\n{client_id or ''}")

    def read(self) -> StoredLogin | None:
        """Return the newest login, or None. An unreadable file is ignored."""
        logins = [(path, stored) for path in self._paths() if (stored := self._load(path)) is not None]
        if self._issuer is not None:
            logins = [(path, login) for path, login in logins if login.issuer.rstrip("/") == self._issuer.rstrip("/")]
        return max(logins, key=lambda one: _modified(one[0]))[1] if logins else None

    def write(self, stored: StoredLogin) -> None:
        """Write a login, readable only by this user, and delete the server's other logins. Raises: OSError."""
        where = folder()
        where.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        where.chmod(_FOLDER_MODE)
        path = where / f"{self._of_server}-{_digest(stored.issuer)}.json"
        write_whole(path, json.dumps({"version": VERSION, **attrs.asdict(stored)}).encode(), mode=PRIVATE)
        for other in self._paths():
            if other != path:
                other.unlink(missing_ok=True)

    def delete(self) -> bool:
        """Delete all logins of the server; return whether there was one. Raises: OSError."""
        paths = self._paths()
        for path in paths:
            path.unlink(missing_ok=True)
        return bool(paths)

    def _paths(self) -> list[Path]:
        return sorted(folder().glob(f"{self._of_server}-*.json"))

    def _load(self, path: Path) -> StoredLogin | None:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            held = json.loads(path.read_text(encoding="utf-8"))
            if held.pop("version") == VERSION and held["server"] == self._server and held["tokens"]["access_token"]:
                return StoredLogin(**held)
        return None


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]
