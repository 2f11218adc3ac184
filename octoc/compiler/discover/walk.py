"""Listing folders safely: sorted, and no link leads out of the root, nowhere, or in circles."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import attrs

from octoc.compiler.discover.broken_links import report_broken_link
from octoc.compiler.read.text import why
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules import read as rules

_SKIPPED = frozenset({".DS_Store", ".git", "Thumbs.db", "desktop.ini"})


@attrs.frozen(kw_only=True)
class WalkRoot:
    """What links may not leave: the workspace or a tap. `real` is its path without links; messages say `what`."""

    real: str
    what: str

    def holds(self, real: str) -> bool:
        return real == self.real or real.startswith(self.real.rstrip(os.sep) + os.sep)


@attrs.frozen(kw_only=True)
class FolderEntry:
    """A file or folder below a root. `display` is its path as diagnostics name it; `is_dir` follows links."""

    path: Path
    display: str
    root: WalkRoot
    is_dir: bool

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def place(self) -> Place:
        return Place(file=self.display)


def enter(path: Path, display: str, root: WalkRoot, sink: DiagnosticSink) -> FolderEntry | None:
    """Return the entry at `path`, following links; report and return None when it may not be used or is not there.

    Nothing at all at `path` is silent: the caller knows whether something should be there.
    """
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, ValueError):  # the latter for what no file can be called, as with a NUL
        return None
    except OSError as error:
        sink.report(rules.UNREADABLE, f"`{display}` cannot be read: {why(error)}", at=Place(file=display))
        return None
    try:
        real = os.path.realpath(path, strict=True)
        mode = os.stat(real).st_mode  # noqa: PTH116  # `real` is text
    except OSError as error:
        _report_link(path, display, root, error, sink, is_link=stat.S_ISLNK(mode))
        return None
    if not root.holds(real):
        sink.report(
            rules.OUTSIDE_ROOT,
            f"`{display}` leads out of {root.what}",
            at=Place(file=display),
            help="copy what it leads to, or name that folder as a tap of its own",
        )
        return None
    return FolderEntry(path=path, display=display, root=root, is_dir=stat.S_ISDIR(mode))


def children(folder: FolderEntry, sink: DiagnosticSink, *, hidden: bool = False) -> Iterator[FolderEntry]:
    """Yield what is in `folder`, sorted by name.

    Hidden entries (a leading `.`) are part of no format: they are skipped unless `hidden`. Always skipped are `.git`,
    which no repository can contain, and the files that file managers write.
    """
    try:
        with os.scandir(folder.path) as found:
            listed = sorted((entry.name, entry.is_symlink(), entry.is_dir(follow_symlinks=False)) for entry in found)
    except OSError as error:
        sink.report(rules.UNREADABLE, f"`{folder.display}` cannot be listed: {why(error)}", at=folder.place)
        return
    for name, is_link, is_dir in listed:
        if name in _SKIPPED or (name.startswith(".") and not hidden):
            continue
        path, display = folder.path / name, f"{folder.display}/{name}" if folder.display != "." else name
        if not name.isprintable():
            shown = ascii(name)[1:-1]
            message = f"`{shown}` in `{folder.display}` has characters that cannot be shown, expected a printable name"
            sink.report(rules.BAD_FILE_NAME, message, at=folder.place)
        elif is_link:
            entry = enter(path, display, folder.root, sink)
            if entry is not None:
                yield entry
        else:
            yield FolderEntry(path=path, display=display, root=folder.root, is_dir=is_dir)


def is_compiled(entry: FolderEntry) -> bool:
    """Tell whether Python wrote the file beside a source that it imported: it differs between machines."""
    return entry.path.parent.name == "__pycache__" and entry.name.endswith(".pyc")


def child(folder: FolderEntry, name: str, sink: DiagnosticSink) -> FolderEntry | None:
    """Return the entry `name` of `folder`, or None when it is not there or may not be used (see `enter`)."""
    display = f"{folder.display}/{name}" if folder.display != "." else name
    return enter(folder.path / name, display, folder.root, sink)


def subfolder(folder: FolderEntry, name: str, sink: DiagnosticSink) -> FolderEntry | None:
    """Return the folder `name` of `folder`, or None; a file of that name does not count."""
    found = child(folder, name, sink)
    return found if found is not None and found.is_dir else None


def files_below(folder: FolderEntry, sink: DiagnosticSink, *, hidden: bool = False) -> Iterator[FolderEntry]:
    """Yield every file in `folder` and its subfolders, folder by folder. A folder reached twice is walked once.

    Hidden entries are skipped unless `hidden`, as `children` says.

    A link back to a folder that holds it is reported; so the walk ends, whatever the links are.
    """
    seen: set[str] = set()
    holding = tuple(str(parent) for parent in Path(os.path.realpath(folder.path)).parents)
    pending: list[tuple[FolderEntry, tuple[str, ...]]] = [(folder, holding)]
    while pending:
        here, above = pending.pop()
        real = os.path.realpath(here.path)
        if real in above:
            message = f"`{here.display}` leads back to a folder that holds it"
            sink.report(rules.LINK_LOOP, message, at=here.place, help="delete the link")
            continue
        if real in seen:
            continue
        seen.add(real)
        inside = list(children(here, sink, hidden=hidden))
        yield from (entry for entry in inside if not entry.is_dir)
        pending.extend((entry, (*above, real)) for entry in reversed(inside) if entry.is_dir)


def _report_link(
    path: Path, display: str, root: WalkRoot, error: OSError, sink: DiagnosticSink, *, is_link: bool
) -> None:
    place = Place(file=display)
    if not is_link:
        sink.report(rules.UNREADABLE, f"`{display}` cannot be read: {why(error)}", at=place)
        return
    if isinstance(error, FileNotFoundError):
        report_broken_link(path, display, Path(root.real), sink)
    elif error.errno == errno.ELOOP:
        sink.report(
            rules.LINK_LOOP, f"`{display}` is a link that leads back to itself", at=place, help="delete the link"
        )
    else:
        sink.report(rules.UNREADABLE, f"`{display}` cannot be read: {why(error)}", at=place)
