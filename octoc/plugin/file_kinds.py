"""The kinds of files that octoc reads, and how clients write them, as data. Registered by `octoc_file_kinds`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import PurePath, PurePosixPath
from typing import Any, Literal

import attrs

from octoc.chezmoi import target_path
from octoc.diagnostics.model import DiagnosticSink, KeyPath, Place

Syntax = Literal["toml", "json", "yaml", "markdown", "lines"]
"""What a file is written in. `markdown` is its front matter; `lines` are texts, one on a line, as `{"lines": […]}`."""
Role = Literal[
    "workspace",
    "servers",
    "agents",
    "capabilities",
    "skills",
    "snapshots",
    "fixtures",
    "needs",
    "expansions",
    "background",
    "scopes",
    "permissions",
    "other",
]
"""What a kind brings into a build."""

ANY = "*"
"""Any key or index, in a unit of a kind."""
_OBJECT_WORDS: Mapping[Syntax, str] = {"json": "an object", "yaml": "an object", "markdown": "a mapping"}

Function = str | Callable[..., Any]
"""A function, or where it stands as `module:name`, so that it is imported when it is first called."""
Read = Callable[[str, Place, DiagnosticSink], Mapping[str, Any] | None]
"""Returns the values of a text; reports to the sink and returns None when it has none."""


def load_function(function: Function) -> Callable[..., Any]:
    """Return the function that a kind names."""
    if not isinstance(function, str):
        return function
    module, _, name = function.partition(":")
    loaded: Callable[..., Any] = getattr(import_module(module), name)
    return loaded


@attrs.frozen(kw_only=True)
class Converted:
    """The values of a client's file in octoc's form.

    Args:
        moved: where a value stands in the client's file, by where it is in `values`; what is inside moves with it.
        unknown: where keys stand that the client does not read.
        literal: where texts stand that look like references, which the client does not replace.
        missing: where servers of `values` stand that have no key that the client needs, and the key.
        refused: where a `type` stands that the client refuses or marks, and the word.
        wrong: where values stand that the client refuses, and what it expects.
        elsewhere: where entries stand that only change a server that something else defines.
        twice: names that several entries of a list have, where a later one stands, and where the first one stands.
    """

    values: Mapping[str, Any]
    moved: Mapping[KeyPath, KeyPath] = attrs.field(factory=dict)
    unknown: tuple[KeyPath, ...] = ()
    literal: tuple[KeyPath, ...] = ()
    missing: tuple[tuple[KeyPath, str], ...] = ()
    refused: tuple[tuple[KeyPath, str], ...] = ()
    wrong: tuple[tuple[KeyPath, str], ...] = ()
    elsewhere: tuple[KeyPath, ...] = ()
    twice: tuple[tuple[str, KeyPath, KeyPath], ...] = ()

    def origin(self, path: KeyPath) -> KeyPath:
        """Return where the value at `path` stands in the client's file."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.moved:
                return (*self.moved[path[:length]], *path[length:])
        return path


@attrs.frozen(kw_only=True, eq=False)
class Dialect:
    """One client's form of a kind of file: all that octoc knows of it.

    Args:
        kind: the name of the kind of file that it is a form of.
        name: unique in its kind; `octoc check --kind KIND:NAME` takes it.
        client: the client, as messages name it.
        patterns: the files that the client reads, as POSIX paths in a project; `*` stands for any text of a name, and
            `**` for any number of folders.
        folders: for agents, the folders that `octoc init` names.
        home: the client's own folder: a file in it that no pattern tells is in this dialect.
        marks: keys that tell this dialect where no path does, or where another dialect has the same path, each with the
            values that do; no values are any value.
        rank: which of several MCP files is the project's own: that of the lowest rank.
        is_in_project: a project holds such a file; one of a user may be there as an example.
        user_files: where a user has such a file outside of any project, by `sys.platform`; "" is any other system.
        reads_subfolders: for agents, the client reads all folders below `folders`.
        needs_name: for agents, the client takes a file without `name` for documentation.
        syntax: what the file is written in, where that is not the kind's own.
        needs_content: the path alone does not say what the file is: it must have a list of servers.
        beside: files of which one must be in the same folder; a `*` stands for any text of a name.
        is_settings: the file holds the client's other settings, too, which octoc does not judge.
        server_list: the key that holds the servers; steps of a longer path are joined by `/`.
        is_list: the servers are a list, each with a `name`.
        may_be_path: in place of the servers there may be paths of files with them.
        other_keys: keys that the file must have, too, where its path alone does not say what it is. YAML only.
        takes_any_list: the client also reads the list of servers of other clients.
        inner_list: a key inside `server_list` that may hold the servers instead.
        may_be_bare: the servers may stand at the root of the file.
        fields: the keys of a server that the client reads; empty means octoc's own (`$defs.server` in
            `schemas/mcp.v1.json`), `unused` and those of `renames`.
        requires: a client's key of a server -> the keys that must come with it; "" stands for every server.
        renames: a client's key of a server -> octoc's.
        unused: keys of a server that octoc has no use for.
        ignored: keys of a server that octoc reads, and the client does not.
        is_lenient: servers may have any name, and keys of their author's own: what is near no known key is information.
        skips_short_timeouts: the client ignores a server's `timeout`, which is in milliseconds, below one second.
        key_schemas: JSON Schemas of keys of a server whose values differ from octoc's, or that octoc has no use for.
        shape: what else changes a client's definition, `(entry)`; an `Entry` of `inputs/mcp/convert.py`.
        defined_by: what else defines a server that an entry without an address changes; empty where octoc does not
            report such an entry.
        replacements: patterns in texts, and what replaces them: a client's references as octoc's.
        own_references: a pattern of references such as `${…}` and `$(…)` that the client alone replaces.
        hints: keys that other clients read and this one does not -> what to write instead.
        secret_advice: how a secret stays out of the file, where the client has no references.
        adds_to_others: no workspace names the file: it adds to servers that other files define, or has one agent's.
        holds_secrets: the file is the client's place for secrets, outside of version control.
        unread: those of `patterns` at which the client does not read a file by itself -> the file that it reads: one of
            the project, or, with `~`, one of the user into which people copy it.
        unread_advice: what else people can do with a file that the client does not read.
        reads_comments: the client reads JSON with comments and trailing commas.
        infers_transport: the client takes a server with a `url` and without a `type`.
        url_advice: what to write instead of a `url`, where the client starts commands alone.
        refused_types: words of `type` that the client refuses -> what it takes.
        marked_types: words of `type` that the client's own schema has no place for, and that it takes all the same ->
            what it documents.
        effect: what the client does with a file whose values it refuses, as the end of a sentence; findings about
            values of a wrong type or form have it as a note.
        takes_any_name: servers may have names that no tool can have, such as `com.example`.
        refuses_other_names: the client starts no server whose name has more than letters, digits, `-` and `_`.
        takes_plain_references: the client replaces `${NAME}`.
        takes_prefixed_references: the client replaces `${env:NAME}`.
        takes_numbers: the client takes numbers as values of `env`.
        passes_few: the client starts programs with few variables of its own environment, beside those of `env`.
        takes_null: the client takes a key of a server or an agent whose value is null as absent.
        takes_doubled_keys: the client takes YAML with a key twice, and uses the last.
        declares_inputs: an `${input:ID}` needs an entry in the file's `inputs`.
        reserved_names: names of servers that the client keeps for itself, and skips.
        variable: how a reference to the variable NAME is written.
        variable_with_default: the same with a default; empty where the client has no defaults.
        folder: how a reference to the project's folder is written, where the client leaves Claude Code's as text.
    """

    kind: str
    name: str
    client: str
    patterns: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    home: str = ""
    marks: Mapping[str, frozenset[str]] = attrs.field(factory=dict, hash=False)
    rank: int = 100
    is_in_project: bool = True
    user_files: Mapping[str, str] = attrs.field(factory=dict)
    reads_subfolders: bool = False
    needs_name: bool = False
    syntax: Syntax | None = None
    needs_content: bool = False
    beside: tuple[str, ...] = ()
    is_settings: bool = False
    server_list: str = "mcpServers"
    is_list: bool = False
    may_be_path: bool = False
    other_keys: tuple[str, ...] = ()
    takes_any_list: bool = False
    inner_list: str = ""
    may_be_bare: bool = False
    fields: frozenset[str] = frozenset()
    requires: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    renames: Mapping[str, str] = attrs.field(factory=dict)
    unused: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    is_lenient: bool = False
    skips_short_timeouts: bool = False
    key_schemas: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict, repr=False)
    shape: Function | None = None
    defined_by: str = ""
    replacements: tuple[tuple[str, str], ...] = ()
    own_references: str = ""
    hints: Mapping[str, str] = attrs.field(factory=dict)
    secret_advice: str = ""
    adds_to_others: bool = False
    holds_secrets: bool = False
    unread: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    unread_advice: str = ""
    reads_comments: bool = False
    infers_transport: bool = False
    url_advice: str = ""
    refused_types: Mapping[str, str] = attrs.field(factory=dict)
    marked_types: Mapping[str, str] = attrs.field(factory=dict)
    effect: str = ""
    takes_any_name: bool = False
    refuses_other_names: bool = False
    takes_plain_references: bool = True
    takes_prefixed_references: bool = True
    takes_numbers: bool = False
    passes_few: bool = False
    takes_null: bool = False
    takes_doubled_keys: bool = False
    declares_inputs: bool = False
    reserved_names: frozenset[str] = frozenset()
    variable: str = "${NAME}"
    variable_with_default: str = "${NAME:-default}"
    folder: str = ""

    def project_of(self, path: PurePath) -> PurePath | None:
        """Return the project's folder if `path` is one of the files of this dialect, None otherwise.

        The longest pattern counts where several match.
        """
        return project_of(path, self.patterns)

    @property
    def is_never_read(self) -> bool:
        """Whether the client reads the file at no path."""
        return bool(self.patterns) and self.unread.keys() >= set(self.patterns)

    def read_instead_of(self, path: PurePath) -> str:
        """Return the file that the client reads instead of the one at `path`; empty where it reads that one.

        The longest pattern counts where several match.
        """
        if not self.unread:
            return ""
        matching = [one for one in self.patterns if project_of(path, (one,)) is not None]
        return self.unread.get(max(matching, key=lambda one: one.count("/"), default=""), "")

    def has_servers(self, text: str) -> bool:
        """Tell whether a file with this text can have servers, where its path alone does not say so."""
        if self.needs_content:
            return '"mcpServers"' in text or '"servers"' in text
        key = self.server_list.rpartition("/")[2]
        if self.syntax in ("yaml", "markdown"):
            return all(
                re.search(rf"(?:^|[{{,])[ \t-]*\"?{each}\"?:", text, re.MULTILINE) for each in (key, *self.other_keys)
            )
        word = key if self.syntax == "toml" else f'"{key}"'
        # A user's file has no other `servers`.
        is_named = '"mcpServers"' in text or (not self.is_in_project and '"servers"' in text)
        return not self.is_settings or word in text or is_named

    def variable_named(self, name: str) -> str:
        """Return a reference to a variable as this client writes it."""
        return self.variable.replace("NAME", name)


NO_DIALECT = Dialect(kind="", name="", client="this client")
"""The dialect of a file whose kind has none."""


def project_of(path: PurePath, patterns: Iterable[str]) -> PurePath | None:
    """Return the folder that the patterns start in if `path` matches one, None otherwise. The longest one counts.

    In a folder of chezmoi the names are those that it writes.
    """
    written = target_path(path)
    folders = (_project(written, PurePosixPath(pattern).parts) for pattern in patterns)
    found = min((folder for folder in folders if folder is not None), key=lambda one: len(one.parts), default=None)
    return found if found is None or written is path else path.parents[len(path.parts) - len(found.parts) - 1]


def _project(path: PurePath, pattern: tuple[str, ...]) -> PurePath | None:
    """Return the folder that `pattern` starts in if `path` ends with it."""
    if "**" not in pattern:
        inside = path.parts[-len(pattern) :]
        matches = len(inside) == len(pattern) and all(map(fnmatchcase, inside, pattern))
        return path.parents[len(pattern) - 1] if matches else None
    at = pattern.index("**")
    head, tail = pattern[:at], pattern[at + 1 :]
    for folder in path.parents:
        is_below = folder.parts[-len(head) :] == head and len(path.parts) >= len(folder.parts) + len(tail)
        if is_below and path.match("/".join(tail)):
            return folder.parents[len(head) - 1]
    return None


@attrs.frozen(kw_only=True, eq=False)
class FileKind:
    """A kind of file: all that octoc knows of it.

    Args:
        name: unique; `octoc check --kind NAME` takes it.
        role: what it brings into a build.
        syntax: what it is written in.
        read: reads a file of a syntax that octoc does not know.
        bare: returns the values of Markdown without front matter, `(file, text, sink)`; reports and returns None when
            it has none.
        schema: the JSON Schema that its values meet; None is `schemas/<name>.v1.json`.
        units: what one mistake makes unusable, as key paths where `*` is any key or index: the longest that the path of
            the mistake starts with is cut, the whole file where none does. An element may be cut only where fewer
            elements mean less (a trigger, a tool of an allow-list), a key only where its absence is harmless.
        has_defaults: where no unit fits, the value alone is cut, and a default stands in for it.
        check: checks values that meet the schema, `(values, inspection)`: it reports and cuts what no schema says.
        convert: returns the values of a client's file in octoc's form, `(values, dialect) -> Converted`.
        exclude: returns whether a file defines nothing after all, `(values, inspection)`, and reports it.
        structure: returns the source of a checked document, or a tuple of sources.
        effect: what the file's reader does with one that does not meet `schema`, as the end of a sentence.
        limit: the key of `[limits]` that says how large a file may be.
        patterns: paths that say the kind by themselves, as those of a `Dialect`.
        workspace_files: files that a build of a workspace reads, as paths in it where a name may have a `*`.
        checked_files: files of a workspace that a check reads and a build does not, as paths in it.
        content_patterns: paths where a scan looks into a file for its kind.
        recognize: returns whether values are of this kind, where a path says nothing. Only keys of front matter count.
        marks: texts that tell the kind of a file that cannot be parsed.
        may_be: returns whether a file of any name in this syntax may be of this kind, by its beginning: a scan then
            asks `is_one` with the whole text.
        is_one: returns whether such a file is of this kind.
        other_names: names of files that are never of this kind.
        key: returns what a path says, as capability and provider; `FoundFile.key`.
        dialect: the dialect of a file that no dialect lists.
        scan: whether a scan of a folder looks for such files: everywhere, or beside a file of servers alone.
        is_in_tap: such files are parts of a tap.
        is_complete: a file has all that its rules look at.
        is_published: a registry or a marketplace reads such files, so one that is passed on is its publisher's.
        tool_rules: keys that list tools as Claude Code's permission rules, such as `Bash(git log *)`.
        names_files: findings depend on whether files are there that octoc does not read, so no check is remembered.
        lists_tools: its value `list` has recorded tools, whose texts are checked.
        is_optional: a file that is empty, or a link that leads nowhere, is not reported.
        is_prose: its value `text` is a whole text for models; a folder that has only such files has nothing to check.
    """

    name: str
    role: Role = "other"
    syntax: Syntax = "toml"
    read: Read | None = None
    bare: Function | None = None
    schema: Mapping[str, Any] | None = attrs.field(default=None, repr=False)
    units: tuple[tuple[str, ...], ...] = attrs.field(default=(), repr=False)
    has_defaults: bool = False
    check: Function | None = None
    convert: Function | None = None
    exclude: Function | None = None
    structure: Function | None = None
    effect: str = ""
    limit: Literal["max_file_bytes", "max_snapshot_bytes"] = "max_file_bytes"
    patterns: tuple[str, ...] = ()
    workspace_files: tuple[str, ...] = ()
    checked_files: tuple[str, ...] = ()
    content_patterns: tuple[str, ...] = ()
    recognize: Callable[[Mapping[str, Any]], bool] | None = None
    marks: tuple[str, ...] = ()
    may_be: Callable[[str], bool] | None = None
    is_one: Callable[[str], bool] | None = None
    other_names: frozenset[str] = frozenset()
    key: Callable[[PurePath], Mapping[str, str]] = attrs.field(default=lambda path: {"file": path.stem})
    dialect: Dialect | None = None
    scan: Literal["everywhere", "beside-servers", "never"] = "never"
    is_in_tap: bool = False
    is_complete: bool = False
    is_published: bool = False
    tool_rules: tuple[str, ...] = ()
    names_files: bool = False
    is_optional: bool = False
    is_prose: bool = False
    lists_tools: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def object_word(self) -> str:
        """What an object is called in messages about such a file."""
        return _OBJECT_WORDS.get(self.syntax, "a table")

    def unit_of(self, path: KeyPath) -> KeyPath | None:
        """Return the longest unit that `path` starts with, None when no unit fits."""
        fitting = (path[: len(unit)] for unit in self.units if _starts_with(path, unit))
        return max(fitting, key=len, default=None)

    def cut_of(self, path: KeyPath) -> KeyPath:
        """Return the path of what a mistake at `path` makes unusable; `()` is the whole file."""
        unit = self.unit_of(path)
        if unit is not None:
            return unit
        return path if self.has_defaults else ()


def _starts_with(path: KeyPath, unit: tuple[str, ...]) -> bool:
    return len(unit) <= len(path) and all(
        step in (ANY, taken) for step, taken in zip(unit, path[: len(unit)], strict=True)
    )


def units_under(*prefix: str, of: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return a unit below `prefix` for each of the paths `of`, whose steps are joined by `/`."""
    return tuple((*prefix, *path.split("/")) for path in of)
