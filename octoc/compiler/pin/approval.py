"""The command lines that this user let `octoc pin` start, by workspace: a stranger's repository starts none unasked."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.bundle.model import ServerDefinition
from octoc.compiler.pin.live import S
from octoc.compiler.workspace.files import regular_bytes
from octoc.whole_files import PRIVATE, write_whole

_MOST = 10_000
"""The number of approvals that are kept; the oldest go first."""


def approvals_file() -> Path | None:
    """Return `$XDG_STATE_HOME/octoc/approved-commands.json`, by default below `~/.local/state`; None without a home."""
    state = os.environ.get("XDG_STATE_HOME", "")
    try:
        base = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return base / "octoc" / "approved-commands.json"


def unapproved(root: Path, servers: Iterable[S]) -> tuple[S, ...]:
    """Return the servers with a command line that this user has not approved for the workspace at `root`."""
    known = set(_approved())
    return tuple(server for server in servers if server.command is not None and _key(root, server) not in known)


def approve(root: Path, servers: Sequence[ServerDefinition]) -> None:
    """Remember that this user approved the command lines of servers. Raises: OSError."""
    path = approvals_file()
    new = [_key(root, server) for server in servers]
    if path is None or not new:
        return
    kept = [*(key for key in _approved() if key not in new), *new][-_MOST:]
    write_whole(path, (json.dumps(kept, indent=0) + "\n").encode(), mode=PRIVATE)


def command_line(server: ServerDefinition) -> str:
    """Return what a server starts, as a shell would read it: its variables, the program and its arguments."""
    variables = [f"{name}={shlex.quote(value)}" for name, value in sorted(server.env.items())]
    return " ".join([*variables, shlex.join([server.command or "", *server.args])])


def _key(root: Path, server: ServerDefinition) -> str:
    # A relative path in a command line means another program in another workspace.
    return sha256_hex(canonical_json([os.path.realpath(root), server.reached]))


def _approved() -> list[str]:
    path = approvals_file()
    try:
        keys = [] if path is None else json.loads(regular_bytes(path))
    except (OSError, ValueError):
        return []
    return [key for key in keys if isinstance(key, str)] if isinstance(keys, list) else []
