"""Reading a file at a path from an input: it may be a pipe, a device or endless, and no text of it is shown."""

from __future__ import annotations

import os
import stat


class UnreadableFileError(Exception):
    """What is at a path cannot be taken; the message says why in a few words, without the path."""


def small_text(path: str, most_bytes: int) -> str:
    """Return the text of a regular file, as `small_bytes` does. A file that is not UTF-8 is unreadable."""
    try:
        return small_bytes(path, most_bytes).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadableFileError("it is not UTF-8") from None


def small_bytes(path: str, most_bytes: int) -> bytes:
    """Return the bytes of a regular file, without waiting for a writer.

    Raises: FileNotFoundError if the file does not exist, UnreadableFileError for anything else.
    """
    try:
        # Not blocking: a pipe without a writer must not block the reader.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise UnreadableFileError(_why(error)) from None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnreadableFileError("it is not a regular file")
        data = b""
        while len(data) <= most_bytes and (chunk := os.read(handle, most_bytes + 1 - len(data))):
            data += chunk
    except OSError as error:
        raise UnreadableFileError(_why(error)) from None
    finally:
        os.close(handle)
    if len(data) > most_bytes:
        raise UnreadableFileError(f"it is larger than {most_bytes // 1024} KiB")
    return data


def _why(error: Exception) -> str:
    return getattr(error, "strerror", None) or "the path has a NUL in it"


def small_bytes_if_any(path: str, most_bytes: int) -> bytes:
    """Return the bytes of a regular file; none if it does not exist, is too large or cannot be read."""
    try:
        return small_bytes(path, most_bytes)
    except (FileNotFoundError, UnreadableFileError):
        return b""
