"""Bytes to text: sizes, encodings, and what cannot be opened. Byte-order mark and CRLF are read as if absent."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import attrs

from octoc.compiler.model.settings import LimitSettings
from octoc.compiler.workspace.files import regular_bytes
from octoc.compiler.workspace.paths import file_at
from octoc.diagnostics.model import DiagnosticSink, Place, Span
from octoc.diagnostics.rules import read as rules
from octoc.json_limits import excess

UTF8_BOM = b"\xef\xbb\xbf"
# The longer mark first: UTF-32's little-endian one starts with UTF-16's.
_WIDE_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_SNIFFED = 1024
OF_GIT_LFS = "is a pointer of Git LFS"
"""What the finding of a pointer says; a check of a folder expects one."""
_LFS_POINTER = "version https://git-lfs.github.com/spec/v1\n"
# In UTF-16 text of western languages nearly every second byte is NUL.
_WIDE_SHARE = 0.7


@attrs.frozen(kw_only=True)
class SourceText:
    """A file's text with LF line ends, None when unusable. `digest` is sha256 of the bytes as they are on disk."""

    text: str | None
    digest: str


@attrs.frozen(kw_only=True)
class Limit:
    """The most bytes that a file may have, the key of `[limits]` that says so, and the most JSON elements."""

    size: int
    key: str
    elements: int | None = None


def snapshot_limit(limits: LimitSettings) -> Limit:
    """Return how large a snapshot may be."""
    return Limit(size=limits.max_snapshot_bytes, key="max_snapshot_bytes", elements=limits.max_snapshot_elements)


def load_text(
    path: Path,
    display: str,
    limit: Limit,
    sink: DiagnosticSink,
    *,
    instead: bytes | None = None,
) -> SourceText | None:
    """Read a file, reporting why it is not text. `display` is how diagnostics name it; `instead` is read for it.

    Returns: None when there are no bytes to speak of: unreadable, or over the limit.
    """
    data = load_bytes(path, display, limit, sink) if instead is None else instead
    if data is None:
        return None
    return SourceText(text=decode(data, display, sink), digest=hashlib.sha256(data).hexdigest())


def load_bytes(path: Path, display: str, limit: Limit, sink: DiagnosticSink) -> bytes | None:
    """Return the bytes of a regular file; report and return None when they are over `limit`, or cannot be read."""
    place = Place(file=display)
    try:
        # Without O_NONBLOCK the opening of a pipe waits for who writes to it.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123  # a descriptor, not a path
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                sink.report(rules.UNREADABLE, f"`{display}` is not a regular file", at=place)
                return None
            data = file.read(limit.size + 1)
            size = max(os.fstat(descriptor).st_size, len(data))
    except OSError as error:
        sink.report(rules.UNREADABLE, f"`{display}` cannot be read: {why(error)}", at=place)
        return None
    if len(data) > limit.size:
        sink.report(
            rules.TOO_LARGE,
            f"`{display}` has {size} bytes, the limit is {limit.size}",
            at=place,
            help=f"make it smaller, or raise `{limit.key}` under `[limits]` in octoc.toml",
        )
        return None
    over = None if limit.elements is None else excess(data, limit.elements, max_depth=len(data))
    if over is not None:
        sink.report(
            rules.TOO_LARGE,
            f"`{display}` has {over}",
            at=place,
            help="record fewer tools, or raise `max_snapshot_elements` under `[limits]` in octoc.toml",
        )
        return None
    return data


def decode(data: bytes, display: str, sink: DiagnosticSink) -> str | None:
    """Return UTF-8 `data` as text, without byte-order mark, with LF line ends; report and return None if it is not."""
    place = Place(file=display)
    wide = _wide_encoding(data)
    if wide:
        sink.report(
            rules.NOT_UTF8,
            f"`{display}` is saved as {wide}, expected UTF-8",
            at=place,
            help="save it as UTF-8 in your editor",
        )
        return None
    data = data.removeprefix(UTF8_BOM)
    nul = data.find(b"\0")
    if nul >= 0:
        sink.report(
            rules.BINARY_FILE, f"`{display}` is binary: byte {nul + 1} is NUL, expected text in UTF-8", at=place
        )
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        sink.report(
            rules.NOT_UTF8,
            f"byte `0x{data[error.start]:02x}` is not UTF-8",
            at=Span(file=display, line=line, column=column, end_line=line, end_column=column + 1),
            help="save the file as UTF-8 in your editor",
        )
        return None
    if not text.strip():
        sink.report(rules.EMPTY_FILE, f"`{display}` is empty", at=place, help="fill it, or delete it")
        return None
    text = text.replace("\r\n", "\n")
    if text.startswith(_LFS_POINTER):
        sink.report(
            rules.UNREADABLE,
            f"`{display}` {OF_GIT_LFS}, and its content is not on this machine",
            at=place,
            help="run `git lfs pull`",
        )
        return None
    return text


def text_reader(root: Path, overlay: Mapping[str, bytes] | None = None) -> Callable[[str], str | None]:
    """Return the function that gives positions their text: display path -> text as `decode` makes it, or None.

    Args:
        root: the workspace's folder; display paths are relative to it, or absolute.
        overlay: display path -> bytes that are read instead of what is on disk.
    """
    instead = {} if overlay is None else overlay

    @cache  # a file's findings need it for their places and for its suppressions
    def read_text(display: str) -> str | None:
        try:
            data = instead[display] if display in instead else regular_bytes(file_at(root, display))
            return data.removeprefix(UTF8_BOM).decode("utf-8").replace("\r\n", "\n")
        except (OSError, UnicodeDecodeError):
            return None

    return read_text


def why(error: OSError) -> str:
    """Return the reason in the system's words, lower case, without the path."""
    return (error.strerror or "the system refused it").lower()


def _wide_encoding(data: bytes) -> str | None:
    for mark, name in _WIDE_MARKS:
        if data.startswith(mark):
            return name
    head = data[:_SNIFFED]
    if len(head) < 4 or b"\0" not in head:
        return None
    even, odd = head[::2].count(0), head[1::2].count(0)
    half = len(head) / 2
    # One side is mostly NUL and the other not at all: text of two bytes a letter, not binary data.
    return "UTF-16" if min(even, odd) == 0 and max(even, odd) >= half * _WIDE_SHARE else None
