"""The address of a server: what its definition, the bundle and the connection share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs


@attrs.frozen(kw_only=True)
class ServerAddress:
    """How to reach one MCP server, in the words of its definition.

    `transport` is the key of a transport kind, `builtin` for tools that the host or a plugin binds.
    `settings` are what a plugin's kind takes beside.
    """

    name: str
    transport: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    cwd: str | None = None
    env_file: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = attrs.field(factory=dict, repr=False)
    auth: Mapping[str, Any] | None = attrs.field(default=None, repr=False)
    settings: Mapping[str, Any] = attrs.field(factory=dict, repr=False)

    @cached_property
    def reached(self) -> dict[str, Any]:
        """The fields that reach the server: all except its name."""
        return {name: getattr(self, name) for name in _REACHING}


_REACHING = tuple(name for name in attrs.fields_dict(ServerAddress) if name != "name")
