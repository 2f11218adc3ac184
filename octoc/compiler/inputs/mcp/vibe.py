"""Mistral Vibe's `.vibe/config.toml`: a list of tables with a `transport`. Seen in its source, November 2026.

Vibe ignores unknown keys, and refuses its configuration for a server without `transport`. The file has no references.
"""

from octoc.compiler.inputs.mcp.convert import ServerDraft, seconds
from octoc.plugin.file_kinds import Dialect


def _shape(entry: ServerDraft) -> None:
    command = entry.left.get("command")
    if isinstance(command, str) and not entry.left.get("args") and len(command.split()) > 1:
        del entry.left["command"]
        entry.put("command", command.split()[0], "command")
        entry.put("args", command.split()[1:], "command")
    entry.split_command()
    seconds(entry, "tool_timeout_sec")
    variable, header = entry.left.pop("api_key_env", ""), entry.left.pop("api_key_header", "Authorization")
    form, headers = entry.left.pop("api_key_format", "Bearer {token}"), entry.left.get("headers", {})
    if variable and all(isinstance(text, str) for text in (variable, header, form)) and isinstance(headers, dict):
        origin = "headers" if "headers" in entry.left else "api_key_env"
        entry.left.pop("headers", None)
        entry.put("headers", {header: form.replace("{token}", f"${{{variable}}}"), **headers}, origin)
        entry.moved["headers", header] = ("api_key_env",)


VIBE = Dialect(
    kind="mcp",
    name="vibe",
    client="Mistral Vibe",
    patterns=(".vibe/config.toml",),
    rank=16,
    syntax="toml",
    is_settings=True,
    server_list="mcp_servers",
    is_list=True,
    is_lenient=True,
    requires={"": ("name", "transport")},
    renames={"transport": "type", "disabled_tools": "exclude_tools"},
    unused=frozenset({"name", "prompt", "startup_timeout_sec", "sampling_enabled"}),
    key_schemas={
        "api_key_env": {"description": "The variable with the token of a remote server.", "type": "string"},
        "api_key_header": {"description": "The header for the token.", "type": "string"},
        "api_key_format": {"description": "The header's value, with `{token}`.", "type": "string"},
        "tool_timeout_sec": {"description": "Time limit of one call in seconds.", "type": "number"},
    },
    shape=_shape,
    variable="",
    variable_with_default="",
    secret_advice="name the variable in `api_key_env`",
)
