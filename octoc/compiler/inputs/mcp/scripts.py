"""Scripts of the project in a server's command line: only a path below the project's folder names one."""

from __future__ import annotations

import re

_NAME = r"[A-Za-z0-9_.-]+"
_PATH = rf"(?:\$\{{workspaceFolder\}}/|\./)?(?P<path>{_NAME}(?:/{_NAME})*/{_NAME}\.(?:bash|[cm]?js|mts|py|rb|sh|ts))"
_SCRIPT = re.compile(_PATH)
_PROGRAM = rf"(?:\$\{{(?:workspaceFolder|CLAUDE_PLUGIN_ROOT|CLAUDE_PROJECT_DIR)\}}|\.)/(?P<path>{_NAME}(?:/{_NAME})*)"
_QUOTED = re.compile(f'"{_PATH}"')
_QUOTED_PROGRAM = re.compile(f'"{_PROGRAM}"')


def script_in(word: str) -> str | None:
    """Return the path of the script that a word of a command line names, relative to the project; None if none."""
    match = _SCRIPT.fullmatch(word)
    return None if match is None or ".." in word else match["path"]


def names_script(text: str) -> bool:
    """Tell whether a file of servers may name a script of the project, so that its check depends on other files."""
    return _QUOTED.search(text) is not None or _QUOTED_PROGRAM.search(text) is not None


def program_in(word: str) -> str | None:
    """Return the path of the program that a command names, relative to the project's or the plugin's folder."""
    match = re.fullmatch(_PROGRAM, word)
    return None if match is None or ".." in word else match["path"]
