"""A bounded look at a session's working folder, for `file(…)` and `grep(…)` of skills' rules.

The folder is untrusted: links out of it are not followed, special files are not opened, and time, entries, bytes and
depth have limits. What lies beyond a limit counts as missing.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from octoc.gitignore import Ignored, is_ignored, parse_gitignore

MAX_SECONDS = 1.0
MAX_ENTRIES = 20_000
MAX_DEPTH = 32
MAX_FILE_BYTES = 1024 * 1024
"""A larger file is not searched."""
MAX_BYTES = 16 * 1024 * 1024
"""Bytes that are read for one message."""
_MAX_IGNORE_BYTES = 64 * 1024
_WILD = frozenset("*?[")


class Workdir:
    """One folder during one message. `complete` turns False when a limit ends a search.

    Args:
        root: the folder; a missing one counts as empty.
        clock: seconds that never go back.
    """

    def __init__(self, root: str, *, seconds: float = MAX_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self.root = root
        self.complete = True
        self._clock = clock
        self._ends = clock() + seconds
        self._entries = MAX_ENTRIES
        self._bytes = MAX_BYTES
        self._files: list[str] = []
        self._walk: Iterator[str] | None = None

    @cached_property
    def _real(self) -> str:
        return os.path.realpath(self.root)

    def has(self, pattern: str) -> bool:
        """Return whether `pattern`, a path or glob in the folder, matches a file or folder. `**` is any folders."""
        if pattern.startswith("/") or "\0" in pattern:
            return False
        parts = [part for part in pattern.split("/") if part not in ("", ".")]
        if not parts or ".." in parts or len(parts) > MAX_DEPTH:
            return False
        wants_dir = pattern.endswith("/")
        path = os.path.join(self.root, *parts)  # noqa: PTH118  # this path is hot, and Path objects are slow
        if self._is_inside(path, wants_dir=wants_dir):
            return True
        if not any(_WILD.intersection(part) for part in parts):
            return False
        return self._matches(self.root, parts, 0, wants_dir=wants_dir)

    def contains(self, expression: Any, glob: str | None) -> bool:
        """Return whether the expression matches in a text file whose name `glob` matches.

        Hidden and ignored files, links, large files and those that are not UTF-8 are skipped.
        """
        for path in self._each_file():
            if glob is not None and not fnmatchcase(os.path.basename(path), glob):  # noqa: PTH119
                continue
            text = self._read(path, MAX_FILE_BYTES)
            if text is not None and expression.search(text) is not None:
                return True
        return False

    def _matches(self, folder: str, parts: list[str], depth: int, *, wants_dir: bool) -> bool:
        part, rest = parts[0], parts[1:]
        if part == "**":
            while rest and rest[0] == "**":
                rest = rest[1:]
            if not rest:
                return any(True for _ in self._listed(folder))
            if self._matches(folder, rest, depth, wants_dir=wants_dir):
                return True
            return depth < MAX_DEPTH and any(
                self._matches(entry.path, ["**", *rest], depth + 1, wants_dir=wants_dir)
                for entry in self._listed(folder)
                if _holds(entry.is_dir)
            )
        for entry in self._listed(folder):
            if not fnmatchcase(entry.name, part) or not self._is_inside(entry.path, wants_dir=wants_dir or bool(rest)):
                continue
            if not rest or self._matches(entry.path, rest, depth, wants_dir=wants_dir):
                return True
        return False

    def _is_inside(self, path: str, *, wants_dir: bool) -> bool:
        try:
            real = os.path.realpath(path, strict=True)
            mode = os.stat(real).st_mode  # noqa: PTH116
        except (OSError, ValueError):
            return False
        return real.startswith(self._real.rstrip("/") + "/") and (stat.S_ISDIR(mode) or not wants_dir)

    def _listed(self, folder: str) -> list[os.DirEntry[str]]:
        """Return the entries of a folder by name; none once a limit is reached."""
        listed: list[os.DirEntry[str]] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._entries -= 1
                    if self._entries < 0 or self._clock() > self._ends:
                        self.complete = False
                        break
                    listed.append(entry)
        except (OSError, ValueError):
            return []
        return sorted(listed, key=lambda entry: entry.name)

    def _each_file(self) -> Iterator[str]:
        """Yield the files to search; the folder is walked once, as far as the searches need it."""
        if self._walk is None:
            self._walk = self._walked()
        at = 0
        while True:
            while at < len(self._files):
                at += 1
                yield self._files[at - 1]
            path = next(self._walk, None)
            if path is None:
                return
            self._files.append(path)

    def _walked(self) -> Iterator[str]:
        pending: list[tuple[str, str, tuple[tuple[str, tuple[Ignored, ...]], ...]]] = [(self.root, "", ())]
        while pending:
            folder, inside, levels = pending.pop()
            listed = self._listed(folder)
            if any(entry.name == ".gitignore" for entry in listed):
                text = self._read(os.path.join(folder, ".gitignore"), _MAX_IGNORE_BYTES)  # noqa: PTH118
                levels = (*levels, (inside, parse_gitignore(text or "")))
            folders = []
            for entry in listed:
                if entry.name.startswith("."):
                    continue
                is_dir = _holds(entry.is_dir)
                path = f"{inside}/{entry.name}" if inside else entry.name
                if is_ignored(levels, path, is_dir=is_dir):
                    continue
                if is_dir:
                    folders.append((entry.path, path, levels))
                elif _holds(entry.is_file):
                    yield entry.path
            if inside.count("/") < MAX_DEPTH:
                pending.extend(reversed(folders))

    def _read(self, path: str, limit: int) -> str | None:
        if self._clock() > self._ends or self._bytes <= 0:
            self.complete = False
            return None
        # A link or a pipe may have taken the file's place since it was listed: neither is followed or waited for.
        flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            number = os.open(path, flags)
        except (OSError, ValueError):
            return None
        try:
            with os.fdopen(number, "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode) or status.st_size > limit:
                    return None
                data = file.read(limit + 1)
        except OSError:
            return None
        self._bytes -= len(data)
        try:
            return data.decode("utf-8") if len(data) <= limit else None
        except UnicodeDecodeError:
            return None


def _holds(check: Callable[..., bool]) -> bool:
    """Return whether `is_dir` or `is_file` of an entry holds without following a link."""
    try:
        return check(follow_symlinks=False)
    except OSError:
        return False
