"""Walk through a folder in the order of names, by descriptors: what a link leads to is never entered."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator

import attrs

from octoc_tools_files.ignore import IgnoreRule, is_ignored, read_rules
from octoc_tools_files.root import PathRefusedError, Root, open_folder

_SKIPPED = frozenset({"node_modules", "__pycache__"})
MAX_ENTRIES = 200_000
_MAX_DEPTH = 64


class StoppedError(Exception):
    """The caller of a call does not wait any more."""


@attrs.frozen
class Entry:
    """A file or folder: its steps below the start of the walk, and the open folder that it is in."""

    parts: tuple[str, ...]
    folder: int
    is_folder: bool


@attrs.define
class Walk:
    """One walk."""

    root: Root
    base: tuple[str, ...]
    stop: threading.Event
    gitignore: bool = False
    _seen: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether the walk ended early, after MAX_ENTRIES."""
        return self._seen > MAX_ENTRIES

    def entries(self) -> Iterator[Entry]:
        """Yield all files, and folders before what is in them. Hidden folders and `node_modules` are left out.

        Raises: PathRefusedError if the start is not a folder, StoppedError.
        """
        rules: list[IgnoreRule] = []
        if self.gitignore:
            for depth in range(len(self.base)):
                with self.root.folder(self.base[:depth]) as above:
                    rules += read_rules(self.root, above, self.base[:depth])
        with self.root.folder(self.base) as folder:
            yield from self._below(folder, (), rules)

    def _below(self, folder: int, parts: tuple[str, ...], rules: list[IgnoreRule]) -> Iterator[Entry]:
        here = self.base + parts
        if self.gitignore:
            rules = rules + read_rules(self.root, folder, here)
        for name, mode in _listed(folder):
            if self.stop.is_set():
                raise StoppedError
            self._seen += 1
            if self._seen > MAX_ENTRIES:
                return
            is_folder = stat.S_ISDIR(mode)
            is_left_out = is_folder and (name.startswith(".") or name in _SKIPPED)
            if is_left_out or not (is_folder or stat.S_ISREG(mode)):
                continue
            if rules and is_ignored((*here, name), is_folder=is_folder, rules=rules):
                continue
            yield Entry((*parts, name), folder, is_folder)
            if is_folder and len(parts) < _MAX_DEPTH:
                yield from self._inside(folder, (*parts, name), rules)

    def _inside(self, folder: int, parts: tuple[str, ...], rules: list[IgnoreRule]) -> Iterator[Entry]:
        try:
            inner = open_folder(parts[-1], folder, os.fstat(folder).st_dev)
        except PathRefusedError:
            return
        try:
            yield from self._below(inner, parts, rules)
        finally:
            os.close(inner)


def names_in(folder: int) -> list[str]:
    """Return the names in an open folder, sorted; those of folders end in `/`, and links are left out."""
    return [f"{name}/" if stat.S_ISDIR(mode) else name for name, mode in _listed(folder)]


def _listed(folder: int) -> list[tuple[str, int]]:
    """Return the names in a folder with their kinds, sorted; names that are gone again are left out."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                continue
            kind = stat.S_IFDIR if entry.is_dir(follow_symlinks=False) else 0
            kind = stat.S_IFREG if entry.is_file(follow_symlinks=False) else kind
            if kind:
                found.append((entry.name, kind))
    return sorted(found)
