"""Holds the bundle that is there against the one that these inputs give."""

from __future__ import annotations

import os
from pathlib import Path

from octoc.bundle.layout import INDEX, depends_on_cpu
from octoc.bundle.reader import OpenBundle
from octoc.bundle.refusal import BundleFileError
from octoc.compiler.context import Context
from octoc.compiler.read.text import why
from octoc.compiler.workspace.files import regular_bytes
from octoc.compiler.workspace.paths import display_path
from octoc.diagnostics.rules.bundle import BUNDLE_DIFFERS
from octoc.lists import some_names

_SHOWN = 5


def check_same(path: Path, data: bytes, context: Context) -> None:
    """Report a bundle at `path` whose bytes are not `data`, and which members differ. No bundle there is fine."""
    if not os.path.lexists(path):
        return
    try:
        there = regular_bytes(path)
    except OSError as error:
        _report(path, f"it cannot be read: {why(error)}", context)
        return
    if there == data:
        return
    try:
        old = OpenBundle.of_bytes(there)
    except BundleFileError as refused:
        _report(path, refused.reason, context)
        return
    new = OpenBundle.of_bytes(data, "lazy")
    names = sorted(name for name in {*old.digests, *new.digests} if old.digests.get(name) != new.digests.get(name))
    notes: tuple[str, ...] = ()
    if names and all(map(depends_on_cpu, names)):
        notes = ("only vectors and fitted arrays differ: another kind of CPU gives other ones, too",)
    verb = "differ" if names[1:] else "differs"
    _report(path, f"{some_names(names or [INDEX], _SHOWN)} {verb}", context, notes)


def _report(path: Path, problem: str, context: Context, notes: tuple[str, ...] = ()) -> None:
    message = f"`{display_path(context.root, path)}` is not the bundle that these inputs give: {problem}"
    help_ = "run `octoc build`, or delete the file; do not deploy it"
    context.sink.report(BUNDLE_DIFFERS, message, notes=notes, help=help_)
