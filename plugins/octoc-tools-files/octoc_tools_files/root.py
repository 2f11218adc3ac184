"""A folder that no path leads out of: every step is opened below the step before it, and no link is followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import attrs

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_KINDS = {
    stat.S_IFLNK: "a link, and links are not followed",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
    stat.S_IFREG: "a file",
}

Signature = tuple[int, int, int, int]
"""Inode, size, and the times of the last change of content and of inode, in ns: another content has another one."""


class PathRefusedError(Exception):
    """A path that the tools do not use. The message is one line for the model, to go on from the path and `: `."""


class AbsentError(PathRefusedError):
    """A path that leads to nothing."""


@attrs.frozen
class OpenFile:
    """An open regular file: its descriptor, and its state when it was opened."""

    fd: int
    status: os.stat_result

    @property
    def signature(self) -> Signature:
        return signature_of(self.status)


def signature_of(status: os.stat_result) -> Signature:
    """Return what changes when a file changes."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@attrs.frozen
class Root:
    """The folder that paths start in.

    Args:
        path: absolute, links followed.
        hard_links: whether files with more than one name are opened. One of the names may be outside of the folder.
    """

    path: str
    hard_links: bool = False

    def parts(self, path: str) -> tuple[str, ...]:
        """Return the steps to `path`, which is relative to the folder or inside it. Raises: PathRefusedError."""
        if not path or "\0" in path:
            raise PathRefusedError("not a path")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise PathRefusedError("not a path") from None
        if path.startswith("/"):
            inside = path == self.path or path.startswith(f"{self.path.rstrip('/')}/")
            if not inside:
                raise PathRefusedError("outside of the folder that the tools may use")
            path = path[len(self.path) :]
        parts = tuple(part for part in path.split("/") if part not in {"", "."})
        if ".." in parts:
            raise PathRefusedError("`..` is not allowed, as paths stay in the folder of the tools")
        return parts

    @contextmanager
    def folder(self, parts: tuple[str, ...]) -> Iterator[int]:
        """Yield the descriptor of the folder that the steps lead to. Raises: PathRefusedError."""
        with _refused():
            fd = os.open(self.path, _FOLDER)
        try:
            device = os.fstat(fd).st_dev
            for part in parts:
                fd, above = open_folder(part, fd, device), fd
                os.close(above)
            yield fd
        finally:
            os.close(fd)

    def make_folders(self, parts: tuple[str, ...]) -> None:
        """Make the folder of the tools, and those of the steps that are absent. Raises: PathRefusedError."""
        with _refused():
            os.makedirs(self.path, exist_ok=True)  # noqa: PTH103  # the path is a text
        for depth, part in enumerate(parts):
            with self.folder(parts[:depth]) as above, _refused(), suppress(FileExistsError):
                os.mkdir(part, dir_fd=above)

    @contextmanager
    def file(self, parts: tuple[str, ...]) -> Iterator[tuple[OpenFile, int]]:
        """Yield the file that the steps lead to, and the descriptor of its folder. Raises: PathRefusedError."""
        if not parts:
            raise PathRefusedError("a folder")
        with self.folder(parts[:-1]) as folder:
            one = self.open_file(parts[-1], folder)
            try:
                yield one, folder
            finally:
                os.close(one.fd)

    def open_file(self, name: str, folder: int) -> OpenFile:
        """Open a regular file of a folder; the caller closes it. Raises: PathRefusedError."""
        with _refused():
            # Opening a device or a pipe can have effects, so its kind is looked at before, and again on what is open.
            self._check(os.stat(name, dir_fd=folder, follow_symlinks=False), folder)
            fd = os.open(name, _FILE, dir_fd=folder)
        try:
            with _refused():
                status = os.fstat(fd)
                self._check(status, folder)
        except PathRefusedError:
            os.close(fd)
            raise
        return OpenFile(fd, status)

    def _check(self, status: os.stat_result, folder: int) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise PathRefusedError(_KINDS.get(stat.S_IFMT(status.st_mode), "no file"))
        if status.st_dev != os.fstat(folder).st_dev:
            raise PathRefusedError("on another file system")
        if status.st_nlink > 1 and not self.hard_links:
            raise PathRefusedError("a file with several names (hard links), which may be a file outside of the folder")


def open_folder(name: str, above: int, device: int) -> int:
    """Open a folder on `device` below another one, and no link; the caller closes it. Raises: PathRefusedError."""
    with _refused():
        try:
            fd = os.open(name, _FOLDER, dir_fd=above)
        except OSError:
            kind = stat.S_IFMT(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode)
            if kind != stat.S_IFDIR:
                raise PathRefusedError(f"`{name}` is {_KINDS.get(kind, 'no folder')}") from None
            raise
        if os.fstat(fd).st_dev != device:
            os.close(fd)
            raise PathRefusedError(f"`{name}` is on another file system")
    return fd


@contextmanager
def _refused() -> Iterator[None]:
    """Turn an error of the system into a refusal."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise AbsentError("not found") from None
    except OSError as error:
        raise PathRefusedError((error.strerror or type(error).__name__).lower()) from None
