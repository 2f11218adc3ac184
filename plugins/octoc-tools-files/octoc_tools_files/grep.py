"""`Grep`: lines of files that match a regular expression, found by ripgrep where it is installed, else by google-re2.

Files are opened here, below the folder of the tools; ripgrep gets their descriptors and never a path.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import sysconfig
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from octoc.plugin.toolkit import RegexError, compile_regex
from octoc_tools_files.patterns import name_matches
from octoc_tools_files.root import AbsentError, OpenFile, PathRefusedError, Root
from octoc_tools_files.texts import MAX_MATCHES, ToolError, cut
from octoc_tools_files.walk import StoppedError, Walk

_BATCH = 64
_PART = 256 * 1024
_MAX_LINE = 64 * 1024
_RIPGREP_BYTES = 64 * 1024 * 1024
_RIPGREP_OUTPUT = 1024 * 1024
_LOOK_MS = 20
_LINE = re.compile(rb"/proc/self/fd/(\d+)\0(\d+)([:-])(.*)", re.DOTALL)
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
MODES = ("files_with_matches", "content", "count")
_HEAD = 8192
"""How many bytes of a file tell whether it is text: one with a NUL among them is not."""


@attrs.frozen
class FoundLine:
    """A line of a file, by its number from 1. `matches` is False for lines around a match."""

    number: int
    text: str
    matches: bool


@attrs.frozen
class Search:
    """What to look for, and how many lines around a match to show."""

    expression: str
    pattern: Any
    context: int


def search_files(
    root: Root, pattern: str, path: str, glob: str, context: int, stop: threading.Event, *, program: str | None
) -> str:
    """Return the lines that match, each with path, number and `>`. Raises: PathRefusedError, ToolError, StoppedError.

    Args:
        glob: a pattern that names of files must match; empty takes all files.
        program: ripgrep, None for google-re2.
    """
    try:
        search = Search(pattern, compile_regex(pattern), context)
    except RegexError as error:
        raise ToolError(f"Invalid regex: {error}") from None
    shown: list[str] = []
    for name, lines in _found(root, search, path, glob, stop, program):
        last = 0
        for line in lines:
            if context and last and line.number > last + 1:
                shown.append("")
            shown.append(f"{name}:{line.number}:{'>' if line.matches else ' '} {line.text}")
            last = line.number
            if len(shown) >= MAX_MATCHES:
                return cut("\n".join(shown))
        if context and last:
            shown.append("")
    return cut("\n".join(shown)) if shown else f"No matches for '{pattern}' in {path}"


def search_text(
    root: Root, text: str, path: str, glob: str, mode: str, stop: threading.Event, *, program: str | None
) -> str:
    """Return the files that have a text, their lines, or their numbers of lines, by `mode`, one of MODES.

    Raises: PathRefusedError, ToolError, StoppedError.
    """
    expression = _SPECIAL.sub(r"\\\g<0>", text)
    shown: list[str] = []
    try:
        search = Search(expression, compile_regex(expression), 0)
    except RegexError as error:  # a text that is too long
        raise ToolError(f"Error: the text cannot be searched: {error}") from None
    for name, found in _found(root, search, path, glob, stop, program):
        lines = [f"  {line.number}: {line.text}" for line in found]
        if lines:
            shown += {"content": [f"{name}:", *lines], "count": [f"{name}: {len(lines)}"]}.get(mode, [name])
        if len(shown) >= MAX_MATCHES:
            break
    return cut("\n".join(shown[:MAX_MATCHES])) if shown else f"No matches found for '{text}'"


@cache
def ripgrep() -> str | None:
    """Return the program of the package `ripgrep` in this environment, None without it."""
    return shutil.which("rg", path=sysconfig.get_path("scripts")) if Path("/proc/self/fd").is_dir() else None


def _found(
    root: Root, search: Search, path: str, glob: str, stop: threading.Event, program: str | None
) -> Iterator[tuple[str, Sequence[FoundLine] | Iterator[FoundLine]]]:
    """Yield the files that have a match, with their lines, in the order of paths."""
    batch: dict[str, OpenFile] = {}
    with ExitStack() as opened:
        for name, one in _files(root, path, glob, stop):
            opened.callback(os.close, one.fd)
            batch[name] = one
            if len(batch) == _BATCH:
                yield from _in_batch(batch, search, stop, program)
                opened.pop_all().close()
                batch = {}
        yield from _in_batch(batch, search, stop, program)


def _files(root: Root, path: str, glob: str, stop: threading.Event) -> Iterator[tuple[str, OpenFile]]:
    """Yield the text files to search, open; the caller closes them."""
    base = root.parts(path)
    try:
        with root.file(base) as (one, _):
            if _is_binary(one):
                raise PathRefusedError("not a text")
            yield "/".join(base), OpenFile(os.dup(one.fd), one.status)
            return
    except AbsentError:
        raise
    except PathRefusedError as error:
        if str(error) != "a folder":
            raise
    for entry in Walk(root, base, stop).entries():
        if entry.is_folder or (glob and not name_matches(glob, entry.parts[-1])):
            continue
        try:
            one = root.open_file(entry.parts[-1], entry.folder)
        except PathRefusedError:  # what `Read` would refuse is not searched either
            continue
        if _is_binary(one):
            os.close(one.fd)
            continue
        yield "/".join((*base, *entry.parts)), one


def _is_binary(one: OpenFile) -> bool:
    return b"\0" in os.pread(one.fd, _HEAD, 0)


def _in_batch(
    batch: Mapping[str, OpenFile], search: Search, stop: threading.Event, program: str | None
) -> Iterator[tuple[str, Sequence[FoundLine] | Iterator[FoundLine]]]:
    if stop.is_set():
        raise StoppedError
    short = {name: one for name, one in batch.items() if one.status.st_size <= _RIPGREP_BYTES}
    by_program = None if program is None or not short else _by_ripgrep(program, short, search, stop)
    for name, one in batch.items():
        if by_program is None or name not in short:
            yield name, _by_re2(one.fd, search, stop)
        elif name in by_program:
            yield name, by_program[name]


def _by_ripgrep(
    program: str, files: Mapping[str, OpenFile], search: Search, stop: threading.Event
) -> Mapping[str, Sequence[FoundLine]] | None:
    """Return the lines by file; None where ripgrep cannot say, as for an expression that only google-re2 has."""
    by_fd = {one.fd: name for name, one in files.items()}
    # In one thread it writes the files in the order in which it gets them, so what comes first is enough.
    arguments = [
        program, "--no-config", "--no-ignore", "--no-messages", "--no-mmap", "--text", "--color=never", "--no-heading",
        "--with-filename", "--null", "--line-number", "--no-crlf", "--threads=1", f"--max-count={MAX_MATCHES}",
        f"--context={search.context}", f"--regexp={search.expression}", "--",
        *(f"/proc/self/fd/{fd}" for fd in by_fd),
    ]  # fmt: skip
    try:
        started = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            pass_fds=by_fd,
        )
    except OSError:
        return None
    with started:
        assert started.stdout is not None  # noqa: S101  # a pipe was asked for
        written, is_whole = _output(started.stdout.fileno(), stop)
        if not is_whole:
            started.kill()
    if stop.is_set():
        raise StoppedError
    if is_whole and started.returncode not in {0, 1}:
        return None
    found: dict[str, list[FoundLine]] = {}
    for line in written.split(b"\n"):
        match = _LINE.fullmatch(line)
        if match is not None:
            one = FoundLine(int(match[2]), _text(match[4]), match[3] == b":")
            found.setdefault(by_fd[int(match[1])], []).append(one)
    return found


def _output(fd: int, stop: threading.Event) -> tuple[bytes, bool]:
    """Return what a program writes, and whether that is all: it ends early at a limit, and when `stop` is set."""
    written = bytearray()
    polled = select.poll()
    polled.register(fd, select.POLLIN)
    while len(written) < _RIPGREP_OUTPUT and not stop.is_set():
        if polled.poll(_LOOK_MS):
            part = os.read(fd, _PART)
            if not part:
                return bytes(written), True
            written += part
    return bytes(written), False


def _by_re2(fd: int, search: Search, stop: threading.Event) -> Iterator[FoundLine]:
    """Yield matching lines and those around them, once each, in order."""
    before: deque[FoundLine] = deque(maxlen=search.context)
    after = matched = 0
    for number, written in _lines(fd, stop):
        text = _text(written)
        if matched < MAX_MATCHES and search.pattern.search(text):
            yield from before
            before.clear()
            yield FoundLine(number, text, matches=True)
            after, matched = search.context, matched + 1
        elif after:
            yield FoundLine(number, text, matches=False)
            after -= 1
        elif matched == MAX_MATCHES:
            return
        elif search.context:
            before.append(FoundLine(number, text, matches=False))


def _lines(fd: int, stop: threading.Event) -> Iterator[tuple[int, bytes]]:
    """Yield (number, line); a line that is longer than _MAX_LINE comes in pieces of one number."""
    number, rest = 1, b""
    while not stop.is_set():
        part = os.read(fd, _PART)
        if not part:
            break
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield number, line
            number += 1
        while len(rest) > _MAX_LINE:
            yield number, rest[:_MAX_LINE]
            rest = rest[_MAX_LINE:]
    else:
        raise StoppedError
    if rest:
        yield number, rest


def _text(line: bytes) -> str:
    return line.rstrip(b"\r\n").decode("utf-8", "replace")
