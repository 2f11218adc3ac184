"""How clients write the files that octoc reads, as data. Registered by the hook `octoc_file_kinds`."""

from __future__ import annotations

from pathlib import PurePath, PurePosixPath
from typing import Literal

import attrs

DialectKind = Literal["mcp", "agent-md", "capability-provider"]


@attrs.frozen(kw_only=True)
class Dialect:
    """One client's form of a kind of file: all that octoc knows of it.

    Args:
        kind: what such a file is: definitions of servers, an agent in Markdown, a provider of a capability.
        name: unique in its kind; `octoc check --kind KIND:NAME` takes it.
        client: the client, as messages name it.
        patterns: the files that the client reads, as POSIX paths in a project; `*` stands for any text of a name, and
            `**` for any number of folders.
        folders: for agents, the folders that `octoc init` names.
        home: the client's own folder: a file in it that no pattern tells is in this dialect.
        rank: which of several MCP files is the project's own: that of the lowest rank.
        is_in_project: a project holds such a file, and `octoc init` names it.
        reads_subfolders: for agents, the client reads all folders below `folders`.
        needs_name: for agents, the client takes a file without `name` for documentation.
        server_list: the key that holds the servers.
        reads_comments: the client reads JSON with comments and trailing commas.
        infers_transport: the client takes a server with a `url` and without a `type`.
        takes_numbers: the client takes numbers as values of `env`.
        declares_inputs: an `${input:ID}` needs an entry in the file's `inputs`.
        reserved_names: names of servers that the client keeps for itself, and skips.
        variable: how a reference to the variable NAME is written.
        variable_with_default: the same with a default; empty where the client has no defaults.
    """

    kind: DialectKind
    name: str
    client: str
    patterns: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    home: str = ""
    rank: int = 100
    is_in_project: bool = True
    reads_subfolders: bool = False
    needs_name: bool = False
    server_list: str = "mcpServers"
    reads_comments: bool = False
    infers_transport: bool = False
    takes_numbers: bool = False
    declares_inputs: bool = False
    reserved_names: frozenset[str] = frozenset()
    variable: str = "${NAME}"
    variable_with_default: str = "${NAME:-default}"

    def project_of(self, path: PurePath) -> PurePath | None:
        """Return the project's folder if `path` is one of the files of this dialect, None otherwise.

        The shortest pattern counts where several match.
        """
        folders = (_project(path, PurePosixPath(pattern).parts) for pattern in self.patterns)
        return max((folder for folder in folders if folder is not None), key=lambda one: len(one.parts), default=None)

    def variable_named(self, name: str) -> str:
        """Return a reference to a variable as this client writes it."""
        return self.variable.replace("NAME", name)


def _project(path: PurePath, pattern: tuple[str, ...]) -> PurePath | None:
    """Return the folder that `pattern` starts in if `path` ends with it."""
    if "**" not in pattern:
        inside = PurePosixPath(*path.parts[-len(pattern) :])
        matches = len(path.parts) >= len(pattern) and inside.match("/".join(pattern))
        return path.parents[len(pattern) - 1] if matches else None
    at = pattern.index("**")
    head, tail = pattern[:at], pattern[at + 1 :]
    for folder in path.parents:
        is_below = folder.parts[-len(head) :] == head and len(path.parts) >= len(folder.parts) + len(tail)
        if is_below and path.match("/".join(tail)):
            return folder.parents[len(head) - 1]
    return None
