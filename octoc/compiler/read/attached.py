"""Files that no stage parses: what lies beside a SKILL.md, and the trees that dependency scripts use."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from octoc.compiler.model.documents import DepTree, Discovered
from octoc.compiler.read.known_tokens import report_known_tokens
from octoc.compiler.read.text import why
from octoc.credentials.known_tokens import has_mark
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules import read as rules
from octoc.diagnostics.rules.bundle import DEPS_TREE_UNUSABLE

T = TypeVar("T")

MAX_TREE_BYTES = 16 * 1024 * 1024
MAX_TREE_FILES = 4096
"""How much of one tap's `deps/` goes into a bundle; each run of a script writes all of it to disk."""
_MAX_SEARCHED_BYTES = 1024 * 1024


def attached_digests(discovered: Discovered, known: Mapping[str, str], sink: DiagnosticSink) -> dict[str, str]:
    """Return display path -> sha256 of each such file that `known` does not have; report those that are not files."""
    digests: dict[str, str] = {}
    for path, display in _attached(discovered):
        if display in known or display in digests:
            continue
        digest = _read(path, display, sink, lambda file: hashlib.file_digest(file, "sha256").hexdigest())
        if digest is not None:
            digests[display] = digest
    return digests


def report_attached_tokens(discovered: Discovered, known: Mapping[str, str], sink: DiagnosticSink) -> None:
    """Report the tokens in the text files among those that `known` does not have."""
    unheard = DiagnosticSink()  # `attached_digests` reports what cannot be read
    for path, display in _attached(discovered):
        data = None if display in known else _read(path, display, unheard, partial(_at_most, _MAX_SEARCHED_BYTES))
        if data is not None and b"\0" not in data and has_mark(data):
            report_known_tokens(display, data.decode("utf-8", "replace"), sink)


def read_trees(discovered: Discovered, digests: dict[str, str], sink: DiagnosticSink) -> dict[str, bytes]:
    """Return display path -> bytes of what dependency scripts use, and put its digests into `digests`.

    Nothing where the workspace has no scripts run. A tree over the limits is reported, and left out as a whole.
    """
    if discovered.settings.runtime.deps != "run":
        return {}
    found: dict[str, bytes] = {}
    for tree in discovered.dep_trees:
        data = _tree_bytes(tree, sink)
        if data is not None:
            digests.update((display, hashlib.sha256(each).hexdigest()) for display, each in data.items())
            found |= data
    return found


def _attached(discovered: Discovered) -> Iterator[tuple[Path, str]]:
    for attachment in discovered.attachments:
        yield attachment.path, attachment.display
    for tree in discovered.dep_trees:
        yield from ((file.source, file.display) for file in tree.files if not file.link)


def _tree_bytes(tree: DepTree, sink: DiagnosticSink) -> dict[str, bytes] | None:
    files = [file for file in tree.files if not file.link]
    found: dict[str, bytes] = {}
    free = MAX_TREE_BYTES
    for file in files:
        data = _read(file.source, file.display, sink, partial(_at_most, free + 1))
        if data is not None:
            found[file.display] = data
            free -= len(data)
        if free < 0 or len(tree.files) > MAX_TREE_FILES:
            _report_size(tree, sink)
            return None
    return found


def _at_most(size: int, file: io.BufferedReader) -> bytes:
    return file.read(size)


def _report_size(tree: DepTree, sink: DiagnosticSink) -> None:
    first = tree.files[0]
    folder = first.display.removesuffix(f"/{first.path}")
    sink.report(
        DEPS_TREE_UNUSABLE,
        f"`{folder}` has more than {MAX_TREE_FILES} files or {MAX_TREE_BYTES // 1024 // 1024} MiB, "
        "so its scripts cannot run from the bundle",
        at=Place(file=folder),
        help="keep scripts and their helpers in it, and have a script download what is large",
    )


def _read(path: Path, display: str, sink: DiagnosticSink, read: Callable[[io.BufferedReader], T]) -> T | None:
    """Return what `read` makes of a regular file; report and return None when it is another thing or unreadable."""
    try:
        # Without O_NONBLOCK the opening of a pipe waits for who writes to it.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:  # noqa: PTH123  # a descriptor, not a path
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return read(file)
            problem = "is not a regular file"
    except OSError as error:
        problem = f"cannot be read: {why(error)}"
    sink.report(rules.UNREADABLE, f"`{display}` {problem}", at=Place(file=display))
    return None
