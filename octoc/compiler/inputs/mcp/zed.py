"""Zed's `.zed/settings.json`: servers in `context_servers`, in two forms, beside those of extensions.

A user keeps such a file in `zed/` of the folder for settings, which dotfiles hold.
"""

from octoc.compiler.inputs.mcp.convert import ServerDraft
from octoc.plugin.file_kinds import Dialect

_OF_EXTENSION = frozenset({"enabled", "command"})
"""Keys beside `settings` that an entry of a server of an extension may have."""


def _shape(entry: ServerDraft) -> None:
    command = entry.left.get("command")
    if command is None and entry.left.keys() <= _OF_EXTENSION:
        entry.is_elsewhere = True  # an extension has the rest
    elif isinstance(command, dict):
        del entry.left["command"]
        for old, new in (("path", "command"), ("args", "args"), ("env", "env")):
            if command.get(old) is not None:
                entry.put(new, command[old], "command", old)


ZED = Dialect(
    kind="mcp",
    name="zed",
    client="Zed",
    patterns=(".zed/settings.json", "zed/settings.json"),
    rank=13,
    is_settings=True,
    reads_comments=True,
    server_list="context_servers",
    infers_transport=True,
    is_lenient=True,
    takes_numbers=True,
    fields=frozenset({"command", "args", "env", "url", "headers", "enabled"}),
    unused=frozenset({"source", "settings", "timeout", "remote", "oauth", "$schema"}),
    key_schemas={
        "command": {
            "description": "The program, or an object with `path`, `args` and `env`.",
            "type": ["string", "object", "null"],
        },
    },
    shape=_shape,
    hints={"disabled": 'write `"enabled": false`'},
)
