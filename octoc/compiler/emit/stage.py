"""Stage emit: everything -> `<name>.octoc`, written aside and renamed, or left as it is."""

from __future__ import annotations

from pathlib import Path

import attrs

from octoc.bundle.digest import sha256_hex
from octoc.bundle.writer import file_of
from octoc.compiler.context import Context
from octoc.compiler.emit.paths import bundle_target
from octoc.compiler.emit.same import check_same
from octoc.compiler.emit.strictness import why_withheld
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Emitted
from octoc.compiler.workspace.files import write_if_changed
from octoc.compiler.workspace.paths import display_path
from octoc.diagnostics.rules.bundle import BUNDLE_NOT_WRITTEN, BUNDLE_WITHHELD


def emit(build: Build, context: Context) -> Build:
    """Write the bundle, unless its bytes are there already, and fill `emitted`.

    Nothing is written with `context.locked`, nor for a reason that `why_withheld` gives: an old file stays.
    `Emitted.path` is then None; else it is where the bundle is, whether or not it had to be written. With
    `context.locked` an existing file is compared with the bytes.
    """
    path = bundle_target(build.settings, context)
    data = file_of(build.locked.parts)
    if context.locked and not build.locked.is_stale:
        check_same(path, data, context)
    is_there = not context.locked and not _withheld(build, path, context) and _write(path, data, context)
    emitted = Emitted(digest=sha256_hex(data), path=path.as_posix() if is_there else None, size=len(data))
    return attrs.evolve(build, emitted=emitted)


def _withheld(build: Build, path: Path, context: Context) -> bool:
    why = why_withheld(build, context)
    if why is None:
        return False
    old = "; the older bundle stays as it was" if path.is_file() else ""
    message = f"`{display_path(context.root, path)}` was not written: {why}{old}"
    context.sink.report(BUNDLE_WITHHELD, message, help="fix the errors, then build again")
    return True


def _write(path: Path, data: bytes, context: Context) -> bool:
    try:
        write_if_changed(path, data)
        return True
    except OSError as error:
        message = f"`{display_path(context.root, path)}` could not be written: {error.strerror}"
        help_ = "`octoc build --output FILE` writes it elsewhere; an older bundle stays as it was"
        context.sink.report(BUNDLE_NOT_WRITTEN, message, help=help_)
        return False
