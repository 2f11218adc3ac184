"""Files of a project that put a client's file where the client reads it: containers, images and scripts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from octoc.small_files import small_bytes_if_any

_INSTALLERS = (
    *(".devcontainer.json", ".devcontainer/*.json", ".devcontainer/*/*.json", ".devcontainer/*.sh"),
    *("*ockerfile*", "*compose*.yml", "*compose*.yaml", "*.sh", "scripts/*.sh", "scripts/*/*.sh"),
)
_MOST_FILES = 100
_MOST_BYTES = 200_000


def is_installed(project: Path, users_file: str) -> bool:
    """Tell whether a file of the project names the user's own file of a client, such as `~/.client/mcp.json`.

    What it does there is not looked at: it may mount, copy or merge.
    """
    path = users_file.removeprefix("~").encode()
    return any(path in small_bytes_if_any(str(one), _MOST_BYTES) for one in islice(_installers(project), _MOST_FILES))


def _installers(project: Path) -> Iterator[Path]:
    for pattern in _INSTALLERS:
        yield from project.glob(pattern)
