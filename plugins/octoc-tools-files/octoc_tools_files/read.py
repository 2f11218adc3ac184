"""`Read`: some lines of a file, which is read in parts and never as a whole."""

from __future__ import annotations

import os
import threading

from octoc_tools_files.root import OpenFile
from octoc_tools_files.texts import MAX_CHARS, MAX_LINES, TRUNCATED, cut
from octoc_tools_files.walk import StoppedError

_PART = 256 * 1024
_MAX_BYTES = 4 * MAX_CHARS  # a character has at most four bytes


def read_lines(one: OpenFile, offset: int, limit: int, stop: threading.Event) -> str:
    """Return lines of a file with their numbers, from `offset` (from 0) on. Raises: OSError, StoppedError."""
    kept, skipped = bytearray(), 0
    wanted = min(limit, MAX_LINES)
    while len(kept) <= _MAX_BYTES and kept.count(b"\n") <= wanted:
        if stop.is_set():
            raise StoppedError
        part = os.read(one.fd, _PART)
        if not part:
            break
        if skipped < offset:
            ends = part.count(b"\n")
            if skipped + ends < offset:
                skipped += ends
                continue
            part = part.split(b"\n", offset - skipped)[-1]
            skipped = offset
        kept += part
    lines = kept.decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    numbered = (f"{offset + number:>6}\t{line.removesuffix(chr(13))}" for number, line in enumerate(lines[:wanted], 1))
    text = cut("\n".join(numbered))
    is_cut = len(lines) > wanted and limit >= MAX_LINES and not text.endswith(TRUNCATED)
    if not text:
        return f"(no lines from {offset} on)" if offset else "(empty file)"
    return text + TRUNCATED if is_cut else text
