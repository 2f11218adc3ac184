"""Which files a build depends on, named so that it does not matter where the workspace or a tap lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.compiler.model.documents import Discovered, Tap


@attrs.frozen(kw_only=True)
class TapFiles:
    """A tap's files: path inside the tap -> sha256. `digest` also covers links, and modes below `deps/`."""

    digest: str
    files: Mapping[str, str]


def files_of(discovered: Discovered, digests: Mapping[str, str]) -> tuple[dict[str, TapFiles], dict[str, str]]:
    """Return the taps' files by the tap's name, and the digest of every other file by its path in the workspace.

    Args:
        digests: display path -> sha256 of every file that was read.
    """
    owners = {file.display: file.tap for file in discovered.files}
    # The longest folder first, so that a tap inside another keeps its own files.
    taps = sorted(discovered.taps, key=lambda tap: (-len(tap.display), tap.precedence))
    in_taps: dict[str, dict[str, str]] = {tap.name: {} for tap in discovered.taps}
    others: dict[str, str] = {}
    for display, digest in sorted(digests.items()):
        tap = None
        if display not in owners or owners[display] is not None:
            tap = next((tap for tap in taps if owners.get(display) in (None, tap.name) and _inside(tap, display)), None)
        if tap is None:
            others[display] = digest
        else:
            in_taps[tap.name][_inside(tap, display)] = digest
    found = {
        name: TapFiles(files=files, digest=_digest([files, *_structure(discovered, name)]))
        for name, files in in_taps.items()
    }
    return found, others


def inputs_digest(discovered: Discovered, digests: Mapping[str, str]) -> str:
    """Return one digest of all inputs, as `Bundle.inputs` has it: equal while no setting and no file changed."""
    taps, others = files_of(discovered, digests)
    order = [tap.name for tap in discovered.taps]
    # Where settings stand in octoc.toml, and where a tap lies, is not what they say.
    settings = attrs.asdict(discovered.settings, filter=lambda attribute, _: attribute.name not in {"place", "taps"})
    # The workspace's own folders of skills say something beside their files too.
    own = _structure(discovered, "")
    return _digest([settings, order, {name: tap.digest for name, tap in taps.items()}, others, own])


def _inside(tap: Tap, display: str) -> str:
    """Return the path of `display` in the tap's folder, or an empty text when it is not there."""
    if tap.display in {"", "."}:
        return display
    prefix = f"{tap.display.rstrip('/')}/"
    return display[len(prefix) :] if display.startswith(prefix) else ""


def _structure(discovered: Discovered, tap: str) -> tuple[Any, ...]:
    """Return what the tap's folders say beside the content of files."""
    links = sorted((link.capability, link.provider) for link in discovered.default_links if link.tap == tap)
    folders = sorted(
        (folder.skill, list(folder.resources), folder.has_validate)
        for folder in discovered.skill_folders
        if folder.tap == tap
    )
    scripts = sorted(script for owner, script in discovered.dep_names if owner == tap)
    trees = [
        [file.path, file.is_program, file.link]
        for tree in discovered.dep_trees
        if tree.tap == tap
        for file in tree.files
    ]
    return links, folders, scripts, trees


def _digest(value: Any) -> str:
    return sha256_hex(canonical_json(value))
