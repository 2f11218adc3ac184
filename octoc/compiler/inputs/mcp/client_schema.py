"""The JSON Schema of each client's file of servers, made from its dialect and octoc's own schema of a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.lists import name_list
from octoc.plugin.file_kinds import Dialect

_PROGRAM = {"command": "uvx", "args": ["mcp-server-time==2026.10.19"]}
_TEXT, _TEXTS, _NUMBER = {"type": "string"}, {"type": "array", "items": {"type": "string"}}, {"type": "number"}
_NAMES = {"type": "object", "additionalProperties": {"type": "string"}}
_KEYS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "allowed_tools": ("The only tools that are used.", _TEXTS),
    "available_tools": ("The only tools that are used; an empty list means every tool.", {}),
    "bearer_token_env_var": ("The variable with the token of a remote server.", _TEXT),
    "enabled_tools": ("The only tools that are used.", _TEXTS),
    "env_http_headers": ("Headers of every request, each with the variable that has its value.", _NAMES),
    "env_keys": ("Variables that the program gets from the client's own store.", _TEXTS),
    "env_vars": ("Variables of the client that the program gets.", {"type": "array"}),
    "environment": ("Variables of the program's environment.", {}),
    "envs": ("Variables of the program's environment.", {}),
    "http_headers": ("Headers of every request.", _NAMES),
    "httpUrl": ("The address of a Streamable HTTP server.", _TEXT),
    "image": ("The image of a container with the server.", _TEXT),
    "read_timeout_seconds": ("Time limit of one call in seconds.", _NUMBER),
    "registry": ("The registry that defines the server; `false` means that this entry does.", {}),
    "remote": ("The address of a remote server and its headers.", {"type": "object"}),
    "requestOptions": ("Options of every request to a remote server, such as `headers`.", {"type": "object"}),
    "tool_timeout_sec": ("Time limit of one call in seconds.", _NUMBER),
    "tools": ("The tools that are used; `*` means every tool.", {}),
    "transport": ("How the client connects.", _TEXT),
}
"""Keys of clients that octoc's schema does not have, and that a dialect's function reads: description and values."""


def client_schema(dialect: Dialect, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a client's file; `own` is the schema of octoc's form of it."""
    definitions = own["$defs"]
    known = definitions["server"]["properties"]
    properties = {key: _key(key, dialect, known) for key in sorted(_keys_of(dialect, known))}
    server: dict[str, Any] = {"type": "object", "properties": properties}
    servers: dict[str, Any] = {"type": "object", "additionalProperties": {"$ref": "#/$defs/server"}}
    if dialect.may_be_path:
        servers = {"anyOf": [servers, {"type": ["string", "array"]}]}
    if dialect.is_list:
        # A text names a server that another file defines.
        servers = {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/server"}, {"type": "string"}]}}
    path = dialect.server_list.split("/")
    example: Any = [{"name": "time", **_PROGRAM}] if dialect.is_list else {"time": _PROGRAM}
    node = {"description": "The servers.", **servers}
    if "command" in properties and "command" not in dialect.key_schemas:
        node["examples"] = [example]
    for key in reversed(path[1:]):
        node = {"description": f"Has `{key}`, the servers.", "type": "object", "properties": {key: node}}
    top = {path[0]: node}
    if dialect.declares_inputs:
        top["inputs"] = own["properties"]["inputs"]
    if not dialect.is_settings:
        top["$schema"] = own["properties"]["$schema"]
    schema: dict[str, Any] = _plain({
        "$schema": own["$schema"],
        "$id": f"urn:octoc:schema:client:{dialect.name}:v1",
        "title": f"MCP servers of {dialect.client} ({dialect.patterns[0]})",
        "description": f"The servers in {name_list(dialect.patterns)}.",
        "type": "object",
        "properties": top,
        "$defs": {"server": server, "tool_filter": definitions["tool_filter"]},
    })  # fmt: skip
    return schema


def _keys_of(dialect: Dialect, known: Mapping[str, Any]) -> set[str]:
    """Return the keys of a server that the client reads."""
    own = dialect.fields or known.keys() - set(dialect.renames.values())
    return {
        *own,
        *dialect.renames,
        *dialect.unused,
        *dialect.key_schemas,
        *(key for keys in dialect.requires.values() for key in keys),
    }


def _key(key: str, dialect: Dialect, known: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    if key in dialect.key_schemas:
        return dialect.key_schemas[key]
    if key in dialect.unused:
        return {"description": f"{dialect.client} has a use for it, and octoc has none."}
    if dialect.renames.get(key, key) in known:
        return known[dialect.renames.get(key, key)]
    description, values = _KEYS[key]
    return {"description": description, **values}


def _plain(node: Any) -> Any:
    """Return a schema without octoc's own keywords."""
    if isinstance(node, Mapping):
        return {key: _plain(value) for key, value in node.items() if key not in ("x-octoc-rule", "$comment")}
    return [_plain(item) for item in node] if isinstance(node, list) else node
