"""The private folder of kept results. Only the process that created it writes to it and removes it."""

from __future__ import annotations

import os
import stat
import weakref
from pathlib import Path


class ResultFolder:
    """A temporary folder of mode 0700, created with the first file, and again if it was removed.

    A forked child reads its parent's files, writes to its own folder, and removes none of its parent's files.
    """

    def __init__(self) -> None:
        self.path: Path | None = None
        """The folder; None until the first file is written."""
        self._maker = 0
        self._user = 0
        self._files = 0
        self._remove: weakref.finalize[[Path, int], ResultFolder] | None = None

    def write(self, data: bytes) -> Path:
        """Write a new file of mode 0600. Raises: OSError, with no file left behind."""
        path = self._usable() / str(self._files)
        self._files += 1
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(data)
        except OSError:
            self.unlink(path)
            raise
        return path

    def read(self, path: Path, start: int, size: int) -> bytes:
        """Return `size` bytes of a file from `start` on. Raises: OSError, also if the file is shorter."""
        if not self._is_own(path.parent):
            raise OSError("its folder was replaced")
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(size)
        if len(data) != size:
            raise OSError("the file is truncated")
        return data

    def unlink(self, path: Path) -> None:
        """Remove a file, if this process wrote it and it is still there. Raises: OSError."""
        if self._maker == os.getpid() and path.parent == self.path and self._is_own(self.path):
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove the folder, if this process made it."""
        if self._remove is not None:
            self._remove()

    def _usable(self) -> Path:
        if self.path is None or self._maker != os.getpid() or not self._is_own(self.path):
            import tempfile

            self.path = Path(tempfile.mkdtemp(prefix="octoc-results-"))
            self._maker, self._user = os.getpid(), self.path.lstat().st_uid
            # It is also removed when the process ends without closing its runtime.
            self._remove = weakref.finalize(self, _remove_own, self.path, self._maker)
        return self.path

    def _is_own(self, folder: Path) -> bool:
        # After a cleaner removed the folder, another user could create one with the same name.
        try:
            status = folder.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(status.st_mode) and status.st_uid == self._user


def _remove_own(folder: Path, maker: int) -> None:
    if maker != os.getpid():
        return
    import shutil

    shutil.rmtree(folder, ignore_errors=True)
