"""How servers are reached: the kinds that files of known clients name, as data. Plugins add kinds of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

import attrs

from octoc.installation import install_command
from octoc.names import BUILTIN

OWN_KEY = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
"""The key of a kind that a plugin adds: words with a `-` between them, the first the plugin's own, as `acme-queue`."""


@attrs.frozen(kw_only=True)
class TransportKind:
    """One kind of transport: what a definition of such a server may hold, and how its connections are treated.

    Args:
        key: the server's `type`.
        needs: the field that a definition must have, None when it needs none.
        settings: JSON Schema (2020-12) of the definition's `settings`; None when it takes none.
        secrets: keys of `settings` whose values are credentials, which only references may give.
        auth: the types of `auth` that it does; None is every type.
        plugin: the plugin of octoc that connects it, None for none.
        deprecated: what to do instead, for a kind that should not be used any more.
        has_logins: whether a person can log in to such a server (`octoc auth`).
        network: what carries it, as OpenTelemetry calls it; None is unknown.
        is_mcp: whether it speaks MCP.
        per_account: whether a server with settings that let it ask has one connection for each account.
            A transport that knows which call a question belongs to needs none.
        reports_changes: whether it can report that its tools changed; otherwise each reload lists them again.
        dialect: the dialect of JSON Schema of tools that name none; None is 2020-12.
    """

    key: str
    needs: Literal["command", "url"] | None = None
    settings: Mapping[str, Any] | None = None
    secrets: tuple[str, ...] = ()
    auth: tuple[str, ...] | None = None
    plugin: str | None = None
    deprecated: str | None = None
    has_logins: bool = False
    network: Literal["pipe", "tcp"] | None = None
    is_mcp: bool = False
    per_account: bool = True
    reports_changes: bool = True
    dialect: str | None = None


_MCP = "transport-mcp"
_ROWS = (
    TransportKind(key="stdio", needs="command", plugin=_MCP, network="pipe", is_mcp=True),
    TransportKind(key="http", needs="url", plugin=_MCP, has_logins=True, network="tcp", is_mcp=True, per_account=False),
    TransportKind(
        key="sse",
        needs="url",
        plugin=_MCP,
        deprecated="ask whether its provider has an address of Streamable HTTP",
        has_logins=True,
        network="tcp",
        is_mcp=True,
        per_account=False,
    ),
    TransportKind(key="ws", needs="url", network="tcp", is_mcp=True, per_account=False),
    TransportKind(
        key="rest",
        needs="url",
        auth=("bearer",),
        plugin="transport-rest",
        network="tcp",
        per_account=False,
        reports_changes=False,
        dialect="http://json-schema.org/draft-07/schema",
    ),
    TransportKind(key=BUILTIN, per_account=False),
)
STANDARD: Mapping[str, TransportKind] = {row.key: row for row in _ROWS}
"""The kinds that files of Claude Code, Octo, Octopus and Octomind name, by key."""

_ALIASES = dict.fromkeys(("streamable-http", "streamable_http", "streamableHttp"), "http")
_BY_FIELD: Mapping[str, str] = {"command": "stdio", "url": "http"}


def kind_of_definition(entry: Mapping[str, Any]) -> str | None:
    """Return the key of a server's kind, by its `type`, else by `command` or `url`; None if it has none of them.

    Source: the dialects of `.mcp.json`; Octo's `streamable_http` and Claude Code's `streamable-http` are `http`.
    """
    written = entry.get("type")
    if isinstance(written, str):
        return _ALIASES.get(written, written)
    return next((kind for field, kind in _BY_FIELD.items() if field in entry), None)


def respelled(word: str) -> str:
    """Return the usual word for a `type` that is written with other cases or signs; empty for any other word."""
    words = {_letters(usual): kind for usual, kind in (*zip(STANDARD, STANDARD, strict=True), *_ALIASES.items())}
    return words.get(_letters(word), "")


def words_for(field: str) -> tuple[str, ...]:
    """Return every usual `type` of a server that has `command` or `url`."""
    words = {**dict(zip(STANDARD, STANDARD, strict=True)), **_ALIASES}
    return tuple(word for word, kind in words.items() if STANDARD[kind].needs == field)


def _letters(word: str) -> str:
    return word.lower().replace("-", "").replace("_", "")


def kind_by_field(field: str) -> str:
    """Return the key of the kind that a definition with `command` or `url` has when it names none."""
    return _BY_FIELD[field]


def no_transport(kind: TransportKind, *, for_model: bool = False) -> str:
    """Return the message, one line, that nothing connects to servers of `kind`, with what to do about it.

    Args:
        for_model: name the distribution instead of the command that installs it, which may hold a path.
    """
    problem = f"no installed plugin connects to servers of kind `{kind.key}`"
    if kind.plugin is None:
        return problem
    distribution = f"octoc-{kind.plugin}"
    install = f"install `{distribution}`" if for_model else f"run `{install_command(distribution)}`"
    return f"{problem}: {install}, and name `{kind.plugin}` in `[plugins] use`"
