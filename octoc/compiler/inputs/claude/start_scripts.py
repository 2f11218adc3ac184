"""What the hooks of a plugin do when a session starts, as far as the text of their scripts tells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from octoc.compiler.inputs.agents.claude import CLAUDE
from octoc.compiler.inputs.claude.paths import script_of, values_of
from octoc.compiler.inputs.claude.plugin import HOOKS_FILE
from octoc.compiler.read.values import texts_in
from octoc.small_files import small_bytes_if_any

_MOST_BYTES = 200_000


def copies_agents(plugin: Path) -> bool:
    """Tell whether a script that runs at the start of a session names the project's folder of agents.

    Claude Code reads keys there that it ignores in an agent of a plugin.
    """
    folder = CLAUDE.folders[0].encode()
    return any(folder in small_bytes_if_any(str(plugin / script), _MOST_BYTES) for script in _scripts(plugin))


def _scripts(plugin: Path) -> Iterator[str]:
    events = values_of(plugin / HOOKS_FILE).get("hooks")
    at_start = events.get("SessionStart") if isinstance(events, dict) else None
    for path, text in texts_in(at_start, ()):
        script = script_of(text, plugin, of_plugin=True) if path and path[-1] == "command" else None
        if script is not None:
            yield script
