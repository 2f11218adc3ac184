"""`Edit`: replace a text in a file. The file is replaced as a whole, or stays as it was."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat

from octoc_tools_files.root import OpenFile, Signature, signature_of
from octoc_tools_files.texts import ToolError

MAX_BYTES = 16 * 1024 * 1024
_NEW_MODE = 0o644
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def edit(
    one: OpenFile, name: str, folder: int, path: str, old: str, new: str, *, every: bool = False
) -> tuple[Signature, int]:
    """Replace the only occurrence of `old` by `new`; return the signature of the new file and how many it replaced.

    Mode, owner and line endings stay: in a file with CRLF alone, `old` and `new` get CRLF too. Other programs see the
    old file or the new one.

    Args:
        name: the file's name in its folder, whose descriptor is `folder`.
        path: the path as the model wrote it, for messages.
        every: replace all occurrences.

    Raises: ToolError, OSError; then the file stays as it was.
    """
    if one.status.st_size > MAX_BYTES:
        raise ToolError(f"Error editing {path}: the file has more than {MAX_BYTES} bytes")
    if not stat.S_IMODE(one.status.st_mode) & 0o222:
        raise ToolError(f"Error editing {path}: the file is read-only")
    fcntl.flock(one.fd, fcntl.LOCK_EX)  # other processes of octoc wait here; it ends with the descriptor
    content = _content(one, path)
    _check_unchanged(one, name, folder, path)
    data, count = _edited(content, path, old, new, every=every)
    return _replace(one, name, folder, path, data), count


def write(one: OpenFile | None, name: str, folder: int, path: str, content: str) -> Signature:
    """Give a file a new content and return its new signature; `one` is the present file. Raises: ToolError, OSError."""
    try:
        data = content.encode()
    except UnicodeEncodeError:
        raise ToolError(f"Error writing {path}: the content has half a surrogate pair, which is not text") from None
    if len(data) > MAX_BYTES:
        raise ToolError(f"Error writing {path}: the content has more than {MAX_BYTES} bytes")
    if one is not None and not stat.S_IMODE(one.status.st_mode) & 0o222:
        raise ToolError(f"Error writing {path}: the file is read-only")
    return _replace(one, name, folder, path, data)


def _content(one: OpenFile, path: str) -> str:
    data = bytearray()
    while len(data) <= MAX_BYTES:
        part = os.read(one.fd, MAX_BYTES)
        if not part:
            break
        data += part
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ToolError(f"Error editing {path}: the file is not UTF-8 text") from None


def _edited(content: str, path: str, old: str, new: str, *, every: bool) -> tuple[bytes, int]:
    if "\r\n" in content and "\n" not in content.replace("\r\n", ""):
        old, new = _with_crlf(old), _with_crlf(new)
    if not old:
        raise ToolError(f"Error editing {path}: old_string is empty")
    count = content.count(old) if every else _count(content, old)
    if count == 0:
        raise ToolError(f"Error: old_string not found in {path}")
    if count > 1 and not every:
        raise ToolError(f"Error: old_string found {count} times — provide more context to make it unique")
    try:
        return content.replace(old, new).encode(), count
    except UnicodeEncodeError:
        raise ToolError(f"Error editing {path}: new_string has half a surrogate pair, which is not text") from None


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _count(content: str, old: str) -> int:
    """Count occurrences; those that overlap are two at least, as `aa` in `aaa`."""
    first = content.find(old)
    overlaps = first >= 0 and content.find(old, first + 1) >= 0
    return max(content.count(old), 1 + overlaps) if first >= 0 else 0


def _replace(one: OpenFile | None, name: str, folder: int, path: str, data: bytes) -> Signature:
    temporary = f".octoc-{secrets.token_hex(8)}"
    is_there = True
    fd = os.open(temporary, _NEW, 0o600, dir_fd=folder)
    try:
        _write(fd, data)
        created = os.fstat(fd)
        if one is not None and (created.st_uid, created.st_gid) != (one.status.st_uid, one.status.st_gid):
            os.fchown(fd, one.status.st_uid, one.status.st_gid)
        os.fchmod(fd, _NEW_MODE if one is None else stat.S_IMODE(one.status.st_mode))
        os.fsync(fd)
        if one is not None:
            _check_unchanged(one, name, folder, path)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        is_there = False
        os.fsync(folder)
        return signature_of(os.fstat(fd))
    finally:
        os.close(fd)
        if is_there:
            os.unlink(temporary, dir_fd=folder)


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _check_unchanged(one: OpenFile, name: str, folder: int, path: str) -> None:
    """Raise ToolError if the name is another file now, or the file another content, than when it was opened."""
    try:
        now = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        raise ToolError(f"Error editing {path}: the file was removed meanwhile; nothing was written") from None
    if signature_of(now) != one.signature:
        raise ToolError(f"Error editing {path}: the file changed meanwhile; read it again (nothing was written)")
