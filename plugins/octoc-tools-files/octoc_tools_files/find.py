"""`Glob`: the files and folders whose paths match a pattern."""

from __future__ import annotations

import threading

from octoc_tools_files.patterns import matches
from octoc_tools_files.root import PathRefusedError, Root
from octoc_tools_files.texts import MAX_FOUND
from octoc_tools_files.walk import MAX_ENTRIES, Walk


def find(root: Root, pattern: str, path: str, stop: threading.Event, *, gitignore: bool = False) -> str:
    """Return paths, one on each line, relative to the folder of the tools. Raises: PathRefusedError, StoppedError."""
    if pattern.startswith("/") or ".." in pattern.split("/"):
        raise PathRefusedError("a pattern is relative to `path`, and stays in it")
    steps = tuple(step for step in pattern.split("/") if step not in {"", "."})
    base = root.parts(path)
    walk = Walk(root, base, stop, gitignore=gitignore)
    found, total = [], 0
    for entry in walk.entries():
        if entry.parts[-1].startswith(".") or not matches(steps, entry.parts):
            continue
        total += 1
        if total <= MAX_FOUND:
            found.append("/".join((*base, *entry.parts)))
    if not found:
        found.append(f"No files matching '{pattern}' in {path}")
    if total > MAX_FOUND:
        found.append(f"... ({total} total, showing first {MAX_FOUND})")
    if walk.is_cut:
        found.append(f"... (stopped after {MAX_ENTRIES} files and folders: give a `path`)")
    return "\n".join(found)
