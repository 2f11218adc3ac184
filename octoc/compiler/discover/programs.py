"""Local programs: files of the workspace or of a tap that a stdio server's `command` or `args` name."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs

from octoc.compiler.model.documents import Discovered, Program
from octoc.compiler.read.text import why
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.lock import PROGRAM_NOT_PINNED
from octoc.plugin.folders import WORKSPACE_FOLDER

if TYPE_CHECKING:
    from octoc.compiler.model.resolved import Server

MAX_BYTES = 64 * 1024 * 1024

# Other files that an argument names may be data that the server writes, and then each call would make the lock stale.
_SCRIPT = re.compile(
    r"\.(?:bash|bat|[cm]?[jt]s|[jt]sx|cmd|dll|exe|jar|lua|php|pl|ps1|py|pyz|rb|sh|wasm|zsh)\Z", re.IGNORECASE
)
# A script's `#!`, and what executables of Linux, Windows and macOS begin with.
_MAGIC = (b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
# What package managers install differs between machines, and their own lock files pin it.
_PACKAGES = "node_modules"
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"
# `--import=x.js` and `sh -c "cd a && node x.js"` name files too.
_BETWEEN_WORDS = re.compile(r"""[\s;&|<>()'"`=]+""")


@attrs.frozen
class _Boundary:
    """A folder that programs may lie in: its path as it was named, without links, and as diagnostics write it."""

    path: str
    real: str
    display: str

    def display_of(self, path: str, real: str) -> str | None:
        """Return how diagnostics write the file at `path`; None when it is not named inside this folder."""
        for folder, file in ((self.path, path), (self.real, real)):
            if file.startswith(folder.rstrip(os.sep) + os.sep):
                return (PurePosixPath(self.display) / Path(os.path.relpath(file, folder)).as_posix()).as_posix()
        return None


def named_paths(servers: Iterable[Server], root: Path) -> dict[str, Place]:
    """Return each path that a server's command line may name, relative to `root`, with the place of the server.

    Args:
        root: the workspace's folder, absolute; servers run in it, or in their `cwd`.
    """
    paths: dict[str, Place] = {}
    for server in servers:
        folder = _expanded(server.cwd or "", root)
        for word in _words(server):
            written = _expanded(word, root)
            if folder is not None and written is not None:
                path = os.path.join(root, folder, written)  # noqa: PTH118  # relpath works `..` out
                paths.setdefault(os.path.relpath(path, root), server.place)
    return paths


def find_programs(paths: Iterable[str], discovered: Discovered) -> dict[str, Program | None]:
    """Return what lies at each of `paths` (see `named_paths`): a local program, or None."""
    boundaries = _boundaries(discovered)
    return {path: _program(os.path.normpath(discovered.root / path), boundaries) for path in paths}


def report_programs(programs: Mapping[str, Program | None], places: Mapping[str, Place], sink: DiagnosticSink) -> None:
    """Report each program that is not pinned, at the server that names it."""
    for path, program in programs.items():
        if program is not None and program.problem:
            message = f"the lock does not pin the program `{program.display}`, which {program.problem}"
            help_ = f"name a file of at most {MAX_BYTES // 1024 // 1024} MiB inside the workspace or the tap"
            sink.report(PROGRAM_NOT_PINNED, message, at=places[path].key(), help=help_)


def _words(server: Server) -> Iterator[str]:
    """Yield each word of a stdio server's command line that may be a path."""
    if server.command is None:
        return
    if "/" in server.command:  # any other name is looked up on PATH
        yield server.command
    for argument in server.args:
        for word in (argument, *_BETWEEN_WORDS.split(argument)):
            if word and not word.startswith("-"):
                yield word


def _expanded(text: str, root: Path) -> str | None:
    """Return `text` with the workspace's folder in it; None when it has other references, or cannot be a path."""
    text = text.replace(WORKSPACE_FOLDER, os.fspath(root))
    return None if "${" in text or "\0" in text else text


def _boundaries(discovered: Discovered) -> list[_Boundary]:
    folders = [(discovered.root, "."), *((tap.root, tap.display) for tap in discovered.taps)]
    return [_Boundary(os.path.normpath(path), os.path.realpath(path), display) for path, display in folders]


def _program(path: str, boundaries: list[_Boundary]) -> Program | None:
    """Return the program at an absolute path; None when there is no regular file, no program, or one from outside."""
    try:
        real = os.path.realpath(path, strict=True)
        mode = os.stat(real).st_mode  # noqa: PTH116  # `real` is text
    except (OSError, ValueError):
        return None
    displays = (boundary.display_of(path, real) for boundary in boundaries)
    display = next((display for display in displays if display is not None), None)
    if display is None or not stat.S_ISREG(mode) or _is_installed(path, boundaries):
        return None
    if not any(real.startswith(boundary.real.rstrip(os.sep) + os.sep) for boundary in boundaries):
        return Program(display=display, problem="is a link to a file outside the workspace and its taps")
    try:
        with open(real, "rb") as file:  # noqa: PTH123  # as above
            return _read(display, file, is_script=_SCRIPT.search(path) is not None)
    except OSError as error:
        return Program(display=display, problem=f"cannot be read: {why(error)}")


def _read(display: str, file: BufferedReader, *, is_script: bool) -> Program | None:
    if not file.read(4).startswith(_MAGIC) and not is_script:
        return None
    if os.fstat(file.fileno()).st_size > MAX_BYTES:
        return Program(display=display, problem=f"has more than {MAX_BYTES // 1024 // 1024} MiB")
    file.seek(0)
    return Program(display=display, digest=hashlib.file_digest(file, "sha256").hexdigest())


def _is_installed(path: str, boundaries: list[_Boundary]) -> bool:
    """Tell whether a package manager has put the file there: it is in `node_modules` or a virtual environment."""
    roots = {boundary.path for boundary in boundaries}
    for folder in Path(path).parents:
        if str(folder) in roots:
            return False
        if folder.name == _PACKAGES or os.path.lexists(folder / _VIRTUAL_ENVIRONMENT):
            return True
    return False
