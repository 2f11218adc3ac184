"""All dialects of a build: octoc's own and those of plugins, by the same hook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import PurePath, PurePosixPath

import attrs

from octoc.compiler.inputs.agents import claude as claude_agents
from octoc.compiler.inputs.agents.octo import OCTO
from octoc.compiler.inputs.mcp.claude import CLAUDE
from octoc.compiler.inputs.mcp.claude_desktop import CLAUDE_DESKTOP
from octoc.compiler.inputs.mcp.cursor import CURSOR
from octoc.compiler.inputs.mcp.vscode import VSCODE
from octoc.compiler.inputs.octomind import OCTOMIND
from octoc.plugin.file_kinds import Dialect, DialectKind
from octoc.plugin.hookspecs import hookimpl
from octoc.plugin.manager import Plugins, plugins_of

ByName = Mapping[str, Sequence[Dialect]]
"""Dialects by the name of a file, or by a suffix such as `.md`."""

# What a file is in whose path says nothing.
_DEFAULTS: dict[str, Dialect] = {"mcp": CLAUDE, "agent-md": OCTO, "capability-provider": OCTOMIND}


class CoreFileKinds:
    """octoc's own dialects."""

    @hookimpl
    def octoc_file_kinds(self) -> Iterable[Dialect]:
        return (CLAUDE, CLAUDE_DESKTOP, CURSOR, VSCODE, OCTO, claude_agents.CLAUDE, OCTOMIND)


@attrs.define(frozen=True, slots=False)
class Dialects:
    """The dialects that a build knows. `plugins` are asked for a path that octoc's own do not list."""

    plugins: Plugins | None = attrs.field(default=None, eq=False)

    def of_kind(self, kind: DialectKind) -> tuple[Dialect, ...]:
        """Return all dialects of a kind, octoc's own first."""
        return tuple(dialect for dialect in (*self._own, *self._added) if dialect.kind == kind)

    def of_path(self, kind: DialectKind, path: PurePath) -> Dialect | None:
        """Return the dialect that lists `path` in its patterns."""
        return _matching(kind, path, self._own_by_name) or _matching(kind, path, self._added_by_name)

    def told(self, kind: DialectKind, path: PurePath) -> Dialect:
        """Return the dialect of a file of `kind`: by patterns, else by the folder it lies in, else the usual one."""
        found = self.of_path(kind, path)
        if found is None:
            found = next((one for one in self.of_kind(kind) if one.home and one.home in path.parts), None)
        return found or _DEFAULTS[kind]

    @cached_property
    def hidden_folders(self) -> frozenset[str]:
        """The hidden folders in which clients keep files."""
        known = (*self._own, *self._added)
        files = (PurePosixPath(pattern).parent for one in known for pattern in one.patterns)
        folders = (PurePosixPath(folder) for one in known for folder in one.folders)
        return frozenset(part for path in (*files, *folders) for part in path.parts if part.startswith("."))

    @cached_property
    def _own(self) -> tuple[Dialect, ...]:
        return plugins_of(CoreFileKinds()).file_kinds()

    @cached_property
    def _added(self) -> tuple[Dialect, ...]:
        by_name = {(one.kind, one.name): one for one in self._own}
        added = () if self.plugins is None else self.plugins.file_kinds()
        return tuple(one for one in added if by_name.setdefault((one.kind, one.name), one) is one)

    @cached_property
    def _own_by_name(self) -> ByName:
        return _by_name(self._own)

    @cached_property
    def _added_by_name(self) -> ByName:
        return _by_name(self._added)


def _by_name(dialects: Iterable[Dialect]) -> ByName:
    """Return the dialects by the names of their files, or by the suffix where a name has a `*`."""
    by_name: dict[str, list[Dialect]] = {}
    for dialect in dialects:
        for pattern in dialect.patterns:
            name = PurePosixPath(pattern)
            by_name.setdefault(name.suffix if "*" in name.name else name.name, []).append(dialect)
    return by_name


def _matching(kind: DialectKind, path: PurePath, by_name: ByName) -> Dialect | None:
    # A scan asks for every file that it meets: few have the name of a client's file.
    candidates = (*by_name.get(path.name, ()), *by_name.get(path.suffix, ()))
    matching = [one for one in candidates if one.kind == kind and one.project_of(path) is not None]
    # A file in one client's folder may have another client's name.
    return max(matching, key=lambda one: bool(one.home), default=None)
