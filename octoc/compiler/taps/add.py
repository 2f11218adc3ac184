"""Adds a tap to octoc.toml, which keeps all else that is in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import tomlkit
from tomlkit.items import AoT

from octoc.compiler.cache.store import Cache
from octoc.compiler.model.settings import TapRef
from octoc.compiler.structure.settings import load_settings
from octoc.compiler.taps.update import FetchedTap, TapError, fetch_tap
from octoc.compiler.workspace.files import bytes_if_any, write_if_changed
from octoc.compiler.workspace.paths import WORKSPACE_FILE
from octoc.compiler.workspace.toml_text import table_of
from octoc.diagnostics.model import DiagnosticSink


def add_tap(root: Path, tap: TapRef) -> FetchedTap | None:
    """Add a tap to octoc.toml after its last one. One from git is fetched first; None is returned for one on disk.

    Raises: TapError; nothing is written then.
    """
    path = root / WORKSPACE_FILE
    before = DiagnosticSink()
    if load_settings(root, before, cache=Cache(None)) is None:
        raise TapError(f"`{WORKSPACE_FILE}` cannot be read", "run `octoc check`, which says why")
    document = tomlkit.parse((bytes_if_any(path) or b"").decode())
    if any(each.get("name") == tap.name for each in document.get("taps", ())):
        raise TapError(f"there is a tap `{tap.name}` already", "choose another name, or edit `octoc.toml`")
    _append(document, {key: value for key in ("name", "git", "rev", "path") if (value := getattr(tap, key))})
    written = tomlkit.dumps(document)
    sink = DiagnosticSink()
    load_settings(root, sink, cache=Cache(None), overlay={WORKSPACE_FILE: written.encode()})
    known = {found.message for found in before.diagnostics}
    wrong = next((found for found in sink.diagnostics if found.message not in known), None)
    if wrong is not None:
        raise TapError(wrong.message, wrong.help or "correct the tap's source")
    fetched = fetch_tap(tap, root) if tap.git else None
    write_if_changed(path, written.encode())
    return fetched


def _append(document: tomlkit.TOMLDocument, values: Mapping[str, str]) -> None:
    """Add a `[[taps]]` table after the last one, with an empty line before it and before what follows."""
    entry, taps = table_of(values), document.get("taps")
    if isinstance(taps, AoT):
        if taps[-1].as_string().endswith("\n\n"):
            entry.add(tomlkit.nl())
        else:
            entry.trivia.indent = "\n"
        taps.append(entry)
        return
    if taps:
        raise TapError("`taps` is written as one list", "write each tap as a table `[[taps]]`")
    document.pop("taps", None)
    if not document.as_string().endswith("\n\n"):
        entry.trivia.indent = "\n"
    document.append("taps", AoT([entry]))
