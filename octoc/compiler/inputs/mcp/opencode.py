"""OpenCode's `opencode.json`: one list for a program and its arguments. Version 2 has the servers in `mcp.servers`.

Seen in its source, November 2026: version 1 refuses the whole file for one entry without `type` or with a text as
`command`, version 2 the entry.
"""

from octoc.compiler.inputs.mcp.convert import ServerDraft
from octoc.plugin.file_kinds import Dialect
from octoc.transport_kinds import words_for

_TYPES = {"local": "stdio", "remote": "http"}
_OAUTH = {"clientId": "clientId", "clientSecret": "clientSecret", "scope": "scope", "redirectUri": "redirect_uri"}


def _shape(entry: ServerDraft) -> None:
    # `enabled` alone switches a server of the organisation on or off.
    if entry.left.keys().isdisjoint({"type", "command", "url"}):
        entry.is_elsewhere = True
        return
    kind = entry.left.get("type")
    if kind in _TYPES:
        entry.put("type", _TYPES[entry.left.pop("type")], "type")
    if isinstance(entry.left.get("command"), str):
        entry.wrong["command"] = "a list of the program and its arguments"
    entry.split_command()
    entry.rename("environment", "env")
    oauth = entry.left.pop("oauth", None)
    if isinstance(oauth, dict):
        entry.put("oauth", {new: oauth[old] for old, new in _OAUTH.items() if old in oauth}, "oauth")


OPENCODE = Dialect(
    kind="mcp",
    name="opencode",
    client="OpenCode",
    patterns=("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"),
    rank=11,
    is_settings=True,
    reads_comments=True,
    server_list="mcp",
    inner_list="servers",
    infers_transport=True,
    is_lenient=True,
    requires={"": ("type",)},
    refused_types={
        **dict.fromkeys(words_for("command"), "local"),
        **dict.fromkeys(words_for("url"), "remote"),
    },
    takes_plain_references=False,
    takes_prefixed_references=False,
    fields=frozenset({"type", "command", "cwd", "environment", "enabled", "disabled", "url", "headers", "oauth"}),
    unused=frozenset({"timeout", "description", "codemode", "$schema"}),
    key_schemas={
        "type": {"description": "A program or an address.", "enum": ["local", "remote"]},
        "command": {
            "description": "The program and its arguments.",
            "type": ["array", "string"],
            "items": {"type": "string"},
        },
        "oauth": {"description": "Settings of OAuth, or `false`.", "type": ["object", "boolean"]},
    },
    shape=_shape,
    replacements=((r"\{(env|file):([^{}]+)\}", r"${\1:\2}"),),
    hints={"args": "write the arguments into the list `command`", "env": "call it `environment`"},
    variable="{env:NAME}",
    variable_with_default="",
)
