"""`deps/` of a tap: the scripts that capabilities name, and the whole tree around them, which they may use."""

from __future__ import annotations

import os
import stat

from octoc.compiler.discover.found import DiscoveredLists, named
from octoc.compiler.discover.walk import FolderEntry, WalkRoot, children, is_compiled
from octoc.compiler.model.documents import DepScript, DepTree, TreeFile
from octoc.diagnostics.rules.bundle import DEPS_TREE_UNUSABLE

# Shell helpers of the scripts, and no dependency.
_LIBRARY = "lib"


def add_deps(folder: FolderEntry | None, tap: str, found: DiscoveredLists) -> None:
    """Add the scripts `<org>/<tool>.sh` of a tap's folder `deps/`, and its tree."""
    if folder is None:
        return
    for org in children(folder, found.sink):
        if org.is_dir and named(org, org.name, "an organisation of `deps/`", found.sink) and org.name != _LIBRARY:
            _add_scripts(org, tap, found)
    found.dep_trees.append(DepTree(tap=tap, files=tuple(sorted(_tree(folder, found), key=lambda file: file.path))))


def _add_scripts(org: FolderEntry, tap: str, found: DiscoveredLists) -> None:
    for entry in children(org, found.sink):
        if not entry.is_dir and entry.name.endswith(".sh"):
            name = f"{org.name}/{entry.name.removesuffix('.sh')}"
            found.dep_scripts.append(DepScript(tap=tap, name=name, path=entry.path, display=entry.display))


def _tree(folder: FolderEntry, found: DiscoveredLists) -> list[TreeFile]:
    """Return every file and link below `folder`, except compiled Python.

    A link stays one, and is left out when it leads out of the folder.
    """
    inside = WalkRoot(real=os.path.realpath(folder.path), what="`deps/`")
    files: list[TreeFile] = []
    pending = [folder]
    while pending:
        here = pending.pop()
        for entry in children(here, found.sink):
            path = entry.display.removeprefix(f"{folder.display}/")
            mode = entry.path.lstat().st_mode
            if stat.S_ISLNK(mode):
                link = _relative(entry, inside)
                if link:
                    files.append(TreeFile(path=path, source=entry.path, display=entry.display, link=link))
                else:
                    message = f"`{entry.display}` leads out of `{folder.display}`, so scripts cannot use it"
                    help_ = "copy what it leads to into the folder"
                    found.sink.report(DEPS_TREE_UNUSABLE, message, at=entry.place, help=help_)
            elif entry.is_dir:
                pending.append(entry)
            elif not is_compiled(entry):
                is_executable = bool(mode & stat.S_IXUSR)
                files.append(TreeFile(path=path, source=entry.path, display=entry.display, is_executable=is_executable))
    return files


def _relative(entry: FolderEntry, inside: WalkRoot) -> str:
    """Return where a link leads, relative to its own folder; empty when that is outside."""
    real = os.path.realpath(entry.path)
    if not inside.holds(real):
        return ""
    return os.path.relpath(real, os.path.realpath(entry.path.parent)).replace(os.sep, "/")
