"""`capabilities/<cap>/default.toml`: a link to a provider beside it, or a provider.

A link is a symlink, the text that git writes for one where links are off, or a copy of the provider, as archives and
wheels make of a symlink: a tap means the same however it was brought here.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping
from pathlib import Path

from octoc.compiler.discover.found import DiscoveredLists
from octoc.compiler.discover.walk import FolderEntry, child
from octoc.compiler.inputs.capability import CAPABILITY_PROVIDER
from octoc.compiler.model.documents import DefaultLink
from octoc.compiler.read.text import UTF8_BOM
from octoc.compiler.workspace.files import regular_bytes
from octoc.diagnostics.rules import read as rules
from octoc.diagnostics.suggest import did_you_mean

DEFAULT_FILE = "default.toml"
DEFAULT = "default"
# Where links are off, git checks one out as a file that holds the link's target and nothing else.
_LINK_TEXT = re.compile(rb"[^\s\"'=\[\]{}#]+\.toml(?:\r?\n)?\Z")
_MAX_LINK_TEXT = 512


def add_default(folder: FolderEntry, tap: str, providers: Mapping[str, FolderEntry], found: DiscoveredLists) -> None:
    """Add what `default.toml` of the capability at `folder` is, if it is there.

    Args:
        providers: the capability's providers, which are files beside it, by name.
    """
    path = folder.path / DEFAULT_FILE
    target = _target(path) or _copied(path, providers)
    if target is None:
        entry = child(folder, DEFAULT_FILE, found.sink)
        if entry is not None and not entry.is_dir:
            key = {"capability": folder.name, "provider": DEFAULT}
            found.add(entry, CAPABILITY_PROVIDER, tap=tap, key=key)
        return
    display = f"{folder.display}/{DEFAULT_FILE}"
    provider = posixpath.normpath(target).removesuffix(".toml")
    if provider in providers:
        entry = FolderEntry(path=path, display=display, root=folder.root, is_dir=False)
        link = DefaultLink(tap=tap, capability=folder.name, provider=provider, place=entry.place)
        found.default_links.append(link)
        return
    # A symlink that leads out, nowhere or to itself is reported in those words.
    if path.is_symlink() and child(folder, DEFAULT_FILE, found.sink) is None:
        return
    beside = ", ".join(f"`{name}.toml`" for name in sorted(providers)) or "no provider file"
    found.sink.report(
        rules.BAD_DEFAULT,
        f"`{display}` leads to `{target}`, expected a provider beside it",
        at=FolderEntry(path=path, display=display, root=folder.root, is_dir=False).place,
        notes=(f"beside it: {beside}",),
        help=did_you_mean(provider, providers),
    )


def _copied(path: Path, providers: Mapping[str, FolderEntry]) -> str | None:
    """Return the file name of the provider that the file at `path` is a copy of, or None."""
    try:
        size = path.stat().st_size
        alike = [entry.path for entry in providers.values() if entry.path.stat().st_size == size]
        content = regular_bytes(path) if alike else b""
        return next((other.name for other in alike if regular_bytes(other) == content), None)
    except OSError:
        return None


def _target(path: Path) -> str | None:
    """Return what the link at `path` names, or None when `path` is not a link of either kind."""
    try:
        if path.is_symlink():
            return os.readlink(path)  # noqa: PTH115  # the text of the link, as it stands
        if path.stat().st_size > _MAX_LINK_TEXT:
            return None
        text = regular_bytes(path).removeprefix(UTF8_BOM)
    except OSError:
        return None
    if not _LINK_TEXT.match(text):
        return None
    try:
        return text.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        return None
