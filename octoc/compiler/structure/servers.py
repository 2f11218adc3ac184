"""Every dialect's server definition as one `ServerSource`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.mcp import LEAST_TIMEOUT_MS
from octoc.compiler.model.documents import kept
from octoc.compiler.model.source import ServerSource
from octoc.diagnostics.model import KeyPath, Place
from octoc.transport_kinds import kind_by_field, kind_of_definition

_MS = 1000


def server_of_mcp(
    name: str, entry: Mapping[str, Any], place: Place, written: Mapping[KeyPath, KeyPath] | None = None
) -> ServerSource:
    """Return a server as `.mcp.json` and its dialects define it; `written` is its own where the client has other keys.

    Time-outs are milliseconds: Octopus's `timeoutMs`, else Claude Code's `timeout`, which counts from one second on.
    """
    allowed = "include_tools" if "include_tools" in entry else "toolFilter"
    oauth = entry.get("oauth")
    return ServerSource(
        name=name,
        place=place,
        transport=kind_of_definition(entry) or kind_by_field("command"),
        command=entry.get("command"),
        args=_texts(entry, "args"),
        env={key: _env_text(value) for key, value in entry.get("env", {}).items() if value is not None},
        cwd=entry.get("cwd"),
        env_file=entry.get("envFile"),
        url=entry.get("url"),
        headers=dict(entry.get("headers", {})),
        # `oauth` is Claude Code's and VS Code's spelling of an `auth` of that type.
        auth=dict(entry["auth"]) if "auth" in entry else {"type": "oauth", **oauth} if oauth is not None else None,
        settings=dict(entry.get("settings", {})),
        timeout_s=_seconds(entry),
        include=_texts(entry, allowed) if allowed in entry else None,
        exclude=_texts(entry, "exclude_tools"),
        disabled=entry.get("disabled") is True or entry.get("enabled") is False,
        written=written or {},
    )


def server_of_octomind(entry: Mapping[str, Any], place: Place) -> ServerSource:
    """Return a server as a `[[mcp.servers]]` block defines it; its `tools = []` is every tool."""
    timeout = entry.get("timeout_seconds")
    return ServerSource(
        name=entry["name"],
        place=place,
        transport=kind_of_definition(entry) or kind_by_field("command"),
        command=entry.get("command"),
        args=_texts(entry, "args"),
        env=dict(entry.get("env", {})),
        url=entry.get("url"),
        headers=dict(entry.get("headers", {})),
        timeout_s=None if timeout is None else float(timeout),
        include=_texts(entry, "tools") or None,
    )


def _texts(entry: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(value for _, value in kept(entry.get(key, ())))


def _env_text(value: str | float) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _seconds(entry: Mapping[str, Any]) -> float | None:
    if "timeoutMs" in entry:
        return float(entry["timeoutMs"]) / _MS
    timeout = entry.get("timeout")
    return None if timeout is None or timeout < LEAST_TIMEOUT_MS else float(timeout) / _MS
