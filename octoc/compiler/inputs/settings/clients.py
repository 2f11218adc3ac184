"""Settings of clients beside their servers: what a client refuses, files that it does not find, references as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import attrs

from octoc.diagnostics.model import KeyPath
from octoc.plugin.file_kinds import Dialect, FileKind

CLIENT_SETTINGS = FileKind(
    name="client-settings",
    schema={"type": "object"},
    syntax="json",
    has_defaults=True,
    check="octoc.compiler.check.client_settings:check_client_settings",
    scan="everywhere",
    is_complete=True,
    names_files=True,
)


@attrs.frozen(kw_only=True, eq=False)
class SettingsDialect(Dialect):
    """One client's settings, as far as octoc judges them.

    Args:
        schema: the JSON Schema of what the client refuses; it says nothing of the servers, whose own dialect does.
        effect: what the client does with a file that does not meet `schema`, as the end of a sentence.
        files: where paths of files stand, as key paths in which `*` is any key or index.
        based_on: what these paths are relative to; `above` is the project's folder, or any folder above it.
        agents: where agents stand, likewise.
        tools: where names of tools are keys, likewise; a near miss of `builtin` is reported.
        builtin: the client's own tools.
        texts: where texts stand in which `variable` alone is replaced, likewise.
    """

    kind: str = CLIENT_SETTINGS.name
    is_settings: bool = False
    schema: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    effect: str = ""
    files: tuple[tuple[str, ...], ...] = ()
    based_on: Literal["project", "above", "folder"] = "project"
    agents: tuple[tuple[str, ...], ...] = ()
    tools: tuple[tuple[str, ...], ...] = ()
    builtin: frozenset[str] = frozenset()
    texts: tuple[tuple[str, ...], ...] = ()


def values_at(value: Any, pattern: tuple[str, ...], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield each value at `pattern`, in which `*` is any key or index, and its path."""
    if not pattern:
        yield path, value
        return
    step, *rest = pattern
    if step == "*" and isinstance(value, Mapping | list):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from values_at(item, tuple(rest), (*path, key))
    elif isinstance(value, Mapping) and step in value:
        yield from values_at(value[step], tuple(rest), (*path, step))
