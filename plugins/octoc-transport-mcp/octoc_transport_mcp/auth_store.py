"""Where logins are kept: one file of tokens a server and issuer, for this user alone, outside workspace and bundle."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import attrs

from octoc.whole_files import PRIVATE, write_whole

VERSION = 1
_FOLDER_MODE = 0o700


@attrs.frozen(kw_only=True)
class Stored:
    """One login as its file has it. Nothing of it shows in repr; `expires_at` is seconds since the epoch.

    `tokens`, `client`, `metadata` and `resource` are OAuth's own wire objects: the token endpoint's answer, the
    registration, the authorization server's metadata and the protected resource's.
    """

    server: str = attrs.field(repr=False)
    issuer: str = ""
    tokens: dict[str, Any] = attrs.field(repr=False)
    expires_at: float | None = None
    client: dict[str, Any] | None = attrs.field(default=None, repr=False)
    metadata: dict[str, Any] | None = attrs.field(default=None, repr=False)
    resource: dict[str, Any] | None = attrs.field(default=None, repr=False)

    @property
    def can_refresh(self) -> bool:
        return bool(self.tokens.get("refresh_token")) and self.client is not None

    def is_current(self, now: float | None = None) -> bool:
        """Tell whether the access token has not expired, as far as is known."""
        return self.expires_at is None or (time.time() if now is None else now) < self.expires_at


def folder() -> Path:
    """Return the folder of all logins: `$XDG_STATE_HOME/octoc/oauth`, by default below `~/.local/state`."""
    state = os.environ.get("XDG_STATE_HOME", "")
    # As the XDG specification says: a relative path counts as none.
    base = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return base / "octoc" / "oauth"


class Store:
    """The logins of one server: its URL, with the client id that was configured for it, if one was."""

    def __init__(self, server: str, client_id: str | None = None, issuer: str | None = None) -> None:
        self._server = server
        self._issuer = issuer
        self._of_server = _digest(f"{server}\n{client_id or ''}")

    def read(self) -> Stored | None:
        """Return the newest login, or None. A file that cannot be read or understood is none."""
        found = [(path, stored) for path in self._paths() if (stored := self._load(path)) is not None]
        if self._issuer is not None:
            found = [(path, stored) for path, stored in found if stored.issuer.rstrip("/") == self._issuer.rstrip("/")]
        return max(found, key=lambda one: _modified(one[0]))[1] if found else None

    def write(self, stored: Stored) -> None:
        """Write a login whole, readable by this user alone; what another issuer gave for the server goes.

        Raises: OSError.
        """
        where = folder()
        where.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        where.chmod(_FOLDER_MODE)
        path = where / f"{self._of_server}-{_digest(stored.issuer)}.json"
        write_whole(path, json.dumps({"version": VERSION, **attrs.asdict(stored)}).encode(), mode=PRIVATE)
        for other in self._paths():
            if other != path:
                other.unlink(missing_ok=True)

    def delete(self) -> bool:
        """Delete every login of the server; tell whether there was one. Raises: OSError."""
        paths = self._paths()
        for path in paths:
            path.unlink(missing_ok=True)
        return bool(paths)

    def _paths(self) -> list[Path]:
        return sorted(folder().glob(f"{self._of_server}-*.json"))

    def _load(self, path: Path) -> Stored | None:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            held = json.loads(path.read_text(encoding="utf-8"))
            if held.pop("version") == VERSION and held["server"] == self._server and held["tokens"]["access_token"]:
                return Stored(**held)
        return None


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:20]
