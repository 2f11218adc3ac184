"""A client's definitions of servers in octoc's form, and where each value stands in the client's file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from octoc.diagnostics.model import KeyPath
from octoc.plugin.file_kinds import Converted, Dialect, load_function
from octoc.transport_kinds import STANDARD, kind_of_definition, respelled

SERVERS = "mcpServers"
_REFERENCE = re.compile(r"(?<!\$)\$\{(?:env:)?[A-Za-z_]\w*(?::-[^{}]*)?\}")
_PREFIXED = re.compile(r"(?<!\$)\$\{env:[A-Za-z_]\w*")
_DEFAULTED = re.compile(r"(?<!\$)\$\{[A-Za-z_]\w*:-")
# Names in capitals are variables; a client has others, such as `${workspaceFolder}`, for itself.
_PLAIN_REFERENCE = re.compile(r"\$\{[A-Z_][A-Z0-9_]*\}")
_SHELL_FLAGS = frozenset({"-c", "-lc", "-ic", "/c", "-Command"})
READ_LISTS = (SERVERS, "servers")
"""Lists that octoc reads in the file of any client."""
_ABSENT: Any = object()


class ServerDraft:
    """One definition while it changes: what is left of the client's keys, and octoc's keys with their origins."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.left = dict(fields)
        self.values: dict[str, Any] = {}
        self.moved: dict[KeyPath, KeyPath] = {}
        self.wrong: dict[str, str] = {}
        """Keys of the client's whose values it refuses -> what it expects."""
        self.is_elsewhere = False
        """Whether something else than this file defines the server."""

    def put(self, key: str, value: Any, *origin: str | int) -> None:
        """Set octoc's `key` to `value`, which stands at `origin` in the client's definition."""
        self.values[key] = value
        if origin != (key,):
            self.moved[(key,)] = origin

    def rename(self, old: str, new: str) -> None:
        """Make the client's key `old` octoc's key `new`, unless the definition has both."""
        if old in self.left and new not in self.values and (old == new or new not in self.left):
            self.put(new, self.left.pop(old), old)

    def split_command(self) -> None:
        """Read a `command` that lists a program and its arguments."""
        command = self.left.get("command")
        if isinstance(command, list) and command:
            del self.left["command"]
            self.put("command", command[0], "command", 0)
            self.put("args", command[1:], "command")
            self.moved |= {("args", index): ("command", index + 1) for index in range(len(command) - 1)}

    def add_references(self, old: str, new: str) -> None:
        """Make names of variables at `old`, a list or an object by what they are for, references in octoc's `new`."""
        names = self.left.get(old)
        held = self.values.get(new, {})
        pairs = (
            list(names.items())
            if isinstance(names, Mapping)
            else list(enumerate(names))
            if isinstance(names, list)
            else []
        )
        if not pairs or not isinstance(held, Mapping) or not all(isinstance(name, str) for _, name in pairs):
            return
        del self.left[old]
        if new not in self.values:
            self.put(new, {}, old)
        added = {(name if isinstance(names, list) else key): (key, name) for key, name in pairs}
        self.values[new] = {**{key: f"${{{name}}}" for key, (_, name) in added.items()}, **held}
        self.moved |= {(new, key): (old, at) for key, (at, _) in added.items() if key not in held}


def convert_servers(values: Mapping[str, Any], dialect: Dialect) -> Converted:
    """Return the servers of a client's file as `mcpServers`; a file that needs no change keeps its values."""
    at, servers = _servers(values, dialect)
    steps: Mapping[str, Any] = {}
    if dialect.is_list and isinstance(servers, list):
        servers, steps = _by_name(servers)
    if not _changes(dialect, servers) and at in ((SERVERS,), ("servers",), None):
        at = at or ()
        found = servers.items() if isinstance(servers, Mapping) else ()
        return Converted(
            values=values, literal=tuple(one for name, each in found for one in _literal((*at, name), each, dialect))
        )
    if at is None:
        if not dialect.is_settings:
            return Converted(values=values)
        return Converted(values={SERVERS: {}}, moved={(SERVERS,): _path_of(dialect)})
    kept = (
        {} if dialect.is_settings or not at else {key: value for key, value in values.items() if key not in READ_LISTS}
    )
    moved: dict[KeyPath, KeyPath] = {(SERVERS,): at}
    unknown: list[KeyPath] = []
    literal: list[KeyPath] = []
    missing: list[tuple[KeyPath, str]] = []
    refused: list[tuple[KeyPath, str]] = []
    wrong: list[tuple[KeyPath, str]] = []
    elsewhere: list[KeyPath] = []
    if not isinstance(servers, Mapping):
        return Converted(values={**kept, SERVERS: servers}, moved=moved)
    converted: dict[str, Any] = {}
    for written, each in servers.items():
        fields = _present(each) if dialect.takes_null else each
        name, step = _name(str(written), servers), steps.get(written, written)
        moved |= {} if name == step else {(SERVERS, name): (*at, step)}
        if not isinstance(fields, Mapping):
            converted[name] = fields
            continue
        entry = _entry(fields, dialect)
        if entry.is_elsewhere:
            elsewhere.append((*at, step))
            continue
        converted[name] = entry.values
        moved |= {(SERVERS, name, *key): (*at, step, *origin) for key, origin in entry.moved.items()}
        unknown += [(*at, step, key) for key in entry.left]
        needed = [key for present, keys in dialect.requires.items() if not present or present in fields for key in keys]
        missing += [((SERVERS, name), key) for key in needed if key not in fields]
        wrong += [((*at, step, key), expected) for key, expected in entry.wrong.items()]
        wrong += [((*at, step, key), expected) for key, expected in _of_wrong_type(fields, dialect)]
        literal += _literal((*at, step), fields, dialect)
        word = _word_of_type(fields)
        if word in dialect.refused_types or word in dialect.marked_types:
            refused.append(((*at, step, "type"), word))
    return Converted(
        values={**kept, SERVERS: converted},
        moved=moved,
        unknown=tuple(unknown),
        literal=tuple(literal),
        missing=tuple(missing),
        refused=tuple(refused),
        wrong=tuple(wrong),
        elsewhere=tuple(elsewhere),
        twice=tuple(_twice(steps, servers, at)) if dialect.is_list else (),
    )


def _by_name(servers: list[Any]) -> tuple[dict[str, Any], dict[str, int]]:
    """Return a list of servers as an object by their names, and the index of each; a text names one from elsewhere.

    A name that an earlier server has gets a number.
    """
    named: dict[str, Any] = {}
    steps: dict[str, int] = {}
    for index, one in enumerate(servers):
        if isinstance(one, str):
            continue
        written = one.get("name") if isinstance(one, Mapping) else None
        name = base = written if isinstance(written, str) else str(index)
        count = 1
        while name in named:
            count += 1
            name = f"{base}-{count}"
        named[name], steps[name] = one, index
    return named, steps


def _twice(steps: Mapping[str, int], servers: Any, at: KeyPath) -> Iterator[tuple[str, KeyPath, KeyPath]]:
    """Yield each name that an earlier server of a list has, too, where it stands, and where the first one stands."""
    first: dict[str, int] = {}
    for name, index in steps.items():
        one = servers[name]
        written = one.get("name") if isinstance(one, Mapping) else None
        if isinstance(written, str) and first.setdefault(written, index) != index:
            yield written, (*at, index, "name"), (*at, first[written], "name")


def _of_wrong_type(fields: Mapping[str, Any], dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Yield keys that octoc has no use for and whose values the client refuses, and what it expects."""
    for key in dialect.key_schemas.keys() & dialect.unused & fields.keys():
        schema, value = dialect.key_schemas[key], fields[key]
        kind = schema.get("type")
        if kind == "array" and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
            yield key, "a list of texts"
        elif kind == "boolean" and not isinstance(value, bool):
            yield key, "true or false"


def _path_of(dialect: Dialect) -> KeyPath:
    return tuple(dialect.server_list.split("/"))


def _changes(dialect: Dialect, servers: Any) -> bool:
    for name, fields in servers.items() if isinstance(servers, Mapping) else ():
        word = _word_of_type(fields) if isinstance(fields, Mapping) else ""
        if "/" in str(name) or word in dialect.marked_types or (word and _spelling(fields, dialect)):
            return True
    return bool(dialect.is_settings or dialect.renames or dialect.unused or dialect.shape or dialect.replacements)


def _servers(values: Mapping[str, Any], dialect: Dialect) -> tuple[KeyPath | None, Any]:
    """Return where the servers stand, and what stands there; None when the file has no list of servers."""
    for path in dict.fromkeys((_path_of(dialect), *((key,) for key in READ_LISTS))):
        found: Any = values
        for step in path:
            found = found.get(step, _ABSENT) if isinstance(found, Mapping) else _ABSENT
        if found is _ABSENT or (found is None and dialect.syntax == "yaml"):
            continue
        paths = found if isinstance(found, list) else [found]
        if dialect.may_be_path and all(isinstance(path, str) for path in paths):
            return None, None
        inner = found.get(dialect.inner_list) if dialect.inner_list and isinstance(found, Mapping) else None
        if isinstance(inner, Mapping) and not {"type", "command", "url"} & inner.keys():
            return (*path, dialect.inner_list), inner
        return path, found
    if dialect.may_be_bare and any(isinstance(value, Mapping) and _is_server(value) for value in values.values()):
        return (), {key: value for key, value in values.items() if key != "$schema"}
    return None, None


def _name(written: str, servers: Mapping[str, Any]) -> str:
    """Return octoc's name of a server. A name like a repository's becomes its last part if that is free."""
    if "/" not in written:
        return written
    last = written.rstrip("/").rpartition("/")[2]
    is_free = last not in servers and [name.rstrip("/").rpartition("/")[2] for name in servers].count(last) == 1
    return last if last and is_free else written.replace("/", "-")


def _present(fields: Any) -> Any:
    return {key: value for key, value in fields.items() if value is not None} if isinstance(fields, Mapping) else fields


def _spelling(fields: Mapping[str, Any], dialect: Dialect) -> str:
    """Return the usual word for a `type` that is spelled otherwise, where the client does not need any; else empty."""
    word = _word_of_type(fields)
    if not dialect.infers_transport or not word or kind_of_definition({"type": word}) in STANDARD:
        return ""
    return respelled(word)


def _word_of_type(fields: Mapping[str, Any]) -> str:
    word = fields.get("type")
    return word if isinstance(word, str) else ""


def _is_server(fields: Mapping[str, Any]) -> bool:
    return not {"command", "url"}.isdisjoint(fields)


def _entry(fields: Mapping[str, Any], dialect: Dialect) -> ServerDraft:
    entry = ServerDraft({key: value for key, value in fields.items() if key not in dialect.unused})
    if dialect.shape is not None:
        load_function(dialect.shape)(entry)
    if entry.is_elsewhere:
        return entry
    word = _spelling(entry.left, dialect)
    if word:
        del entry.left["type"]
        entry.put("type", word, "type")
    for old, new in dialect.renames.items():
        entry.rename(old, new)
    if dialect.fields:
        for key in dialect.fields & entry.left.keys():
            entry.rename(key, key)
    else:
        for key in tuple(entry.left):
            entry.rename(key, key)
    for pattern, replacement in dialect.replacements:
        entry.values = _replaced(entry.values, re.compile(pattern), replacement)
    return entry


def _literal(path: KeyPath, fields: Any, dialect: Dialect) -> Iterator[KeyPath]:
    """Yield where texts of a definition stand that look like references, which the client does not replace."""
    if not isinstance(fields, Mapping):
        return
    # A shell among the arguments replaces what the client does not.
    values_of_client = {key: value for key, value in fields.items() if key not in ("command", "cmd", "args")}
    command = fields.get("command")
    if isinstance(command, list) and _SHELL_FLAGS.isdisjoint(one for one in command if isinstance(one, str)):
        values_of_client["command"] = command
    if not dialect.variable:
        has_shell = not _SHELL_FLAGS.isdisjoint(arg for arg in fields.get("args") or () if isinstance(arg, str))
        yield from _references(path, values_of_client if has_shell else fields, _REFERENCE)
        return
    if not dialect.variable_with_default:
        yield from _references(path, values_of_client, _DEFAULTED)
    if not dialect.takes_prefixed_references:
        yield from _references(path, values_of_client, _PREFIXED)
    if not dialect.takes_plain_references:
        yield from _references(path, values_of_client, _PLAIN_REFERENCE)


def _references(path: KeyPath, value: Any, form: re.Pattern[str]) -> Iterator[KeyPath]:
    """Yield where the texts below `path` stand that have a reference of this form."""
    if isinstance(value, str):
        yield from (path,) if form.search(value) else ()
    elif isinstance(value, Mapping | list):
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _references((*path, key), item, form)


def _replaced(value: Any, pattern: re.Pattern[str], replacement: str) -> Any:
    if isinstance(value, str):
        return pattern.sub(replacement, value)
    if isinstance(value, Mapping):
        return {key: _replaced(item, pattern, replacement) for key, item in value.items()}
    return [_replaced(item, pattern, replacement) for item in value] if isinstance(value, list) else value


def seconds(entry: ServerDraft, key: str) -> None:
    """Make a time limit in seconds octoc's in milliseconds."""
    limit = entry.left.get(key)
    if limit is None:
        entry.left.pop(key, None)
    elif isinstance(limit, int | float) and not isinstance(limit, bool):
        del entry.left[key]
        entry.put("timeoutMs", limit * 1000, key)


def timeout_in_seconds(entry: ServerDraft) -> None:
    """Shape the definitions of a client whose `timeout` is seconds."""
    seconds(entry, "timeout")
