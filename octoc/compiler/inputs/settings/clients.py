"""Settings of clients beside their servers: what a client refuses, files that it does not find, references as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import attrs

from octoc.compiler.inputs.settings.hook_form import HookForm
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
        files: where paths of files stand, as key paths in which `*` is any key or index.
        folders_of_files: where paths of folders outside of the project may stand, too, likewise.
        based_on: what these paths are relative to; `above` is the project's folder, or any folder above it.
        agents: where agents stand, likewise; a model reads the `description` of each.
        known_keys: where objects stand whose unknown keys the client ignores or hands on, likewise -> the keys that it
            reads; a slip of one is reported.
        needed: where objects stand, likewise -> a key that each needs -> what the client does without it.
        tools: where names of tools stand, as a list or as keys, likewise; a near miss of `builtin` is reported.
        builtin: the client's own tools.
        servers: where lists of names of servers stand, likewise.
        addresses: where addresses stand that the client sends credentials to, likewise.
        texts: where texts stand in which `variable` alone is replaced, likewise.
        embeds: a pattern of references in any text to a file, whose path is its group: the client takes its text.
        hooks: how the client writes `hooks` at the root of the file; None where octoc does not know it.
        rules: where lists of permission rules stand, of the form `Tool` or `Tool(what)`, likewise.
        unique: where entries of lists stand, likewise -> the key that each has for itself, and what the client does
            where two have the same.
        versions: where versions stand, likewise -> a pattern of those that the client takes; empty where it takes any.
        prompts: where texts stand that the client hands to the model as instructions, likewise.
        root_keys: keys of which a YAML file has one; another program's file of this name has none of them.
    """

    kind: str = CLIENT_SETTINGS.name
    is_settings: bool = False
    schema: Mapping[str, Any] = attrs.field(factory=dict, repr=False)
    files: tuple[tuple[str, ...], ...] = ()
    folders_of_files: tuple[tuple[str, ...], ...] = ()
    based_on: Literal["project", "above", "folder"] = "project"
    agents: tuple[tuple[str, ...], ...] = ()
    known_keys: Mapping[tuple[str, ...], frozenset[str]] = attrs.field(factory=dict)
    needed: Mapping[tuple[str, ...], Mapping[str, str]] = attrs.field(factory=dict)
    tools: tuple[tuple[str, ...], ...] = ()
    builtin: frozenset[str] = frozenset()
    servers: tuple[tuple[str, ...], ...] = ()
    addresses: tuple[tuple[str, ...], ...] = ()
    texts: tuple[tuple[str, ...], ...] = ()
    root_keys: tuple[str, ...] = ()
    embeds: str = ""
    hooks: HookForm | None = None
    rules: tuple[tuple[str, ...], ...] = ()
    unique: Mapping[tuple[str, ...], tuple[str, str]] = attrs.field(factory=dict)
    versions: Mapping[tuple[str, ...], str] = attrs.field(factory=dict)
    prompts: tuple[tuple[str, ...], ...] = ()


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
