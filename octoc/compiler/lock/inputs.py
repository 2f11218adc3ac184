"""Which files a build depends on, named so that it does not matter where the workspace or a tap lies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from octoc.bundle.digest import canonical_json, sha256_hex
from octoc.compiler.model.documents import Discovered, Tap


@attrs.frozen(kw_only=True)
class InputFiles:
    """The files of a tap, or of the workspace beside its taps: path inside it -> sha256.

    `digest` also covers links. `executable` are the paths of skills' files and of files below `deps/` that have the
    executable bit; `digest` does not cover it, since some file systems have none.
    """

    digest: str
    files: Mapping[str, str]
    executable: tuple[str, ...] = ()


def files_of(discovered: Discovered, digests: Mapping[str, str]) -> tuple[dict[str, InputFiles], InputFiles]:
    """Return the taps' files by the tap's name, and all other files.

    Args:
        digests: display path -> sha256 of every file that was read.
    """
    owners = {file.display: file.tap for file in discovered.files}
    # The longest folder first, so that a tap inside another keeps its own files.
    taps = sorted(discovered.taps, key=lambda tap: (-len(tap.display), tap.precedence))
    by_tap: dict[str, dict[str, str]] = {"": {}, **{tap.name: {} for tap in discovered.taps}}
    executable: dict[str, list[str]] = {name: [] for name in by_tap}
    with_bit = _with_executable_bit(discovered)
    for display, digest in sorted(digests.items()):
        tap = None
        if display not in owners or owners[display] is not None:
            tap = next((tap for tap in taps if owners.get(display) in (None, tap.name) and _inside(tap, display)), None)
        name, path = ("", display) if tap is None else (tap.name, _inside(tap, display))
        by_tap[name][path] = digest
        if display in with_bit:
            executable[name].append(path)
    taps_files = {
        name: InputFiles(
            files=files, digest=_digest([files, *_structure(discovered, name)]), executable=tuple(executable[name])
        )
        for name, files in by_tap.items()
    }
    own = taps_files.pop("")
    return taps_files, own


def inputs_digest(discovered: Discovered, digests: Mapping[str, str]) -> str:
    """Return one digest of all inputs, as `Bundle.inputs` has it: equal while no setting and no file changed."""
    taps, own = files_of(discovered, digests)
    order = [tap.name for tap in discovered.taps]
    # Where settings stand in octoc.toml, and where a tap lies, is not what they say.
    settings = attrs.asdict(
        discovered.settings, filter=lambda attribute, _: attribute.name not in {"place", "taps", "old_keys"}
    )
    # With `deps = "run"` the executable bits are in the bundle.
    bits = sorted(_with_executable_bit(discovered)) if discovered.settings.runtime.deps == "run" else []
    return _digest([settings, order, {name: tap.digest for name, tap in taps.items()}, own.digest, bits])


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
    trees = [[file.path, file.link] for tree in discovered.dep_trees if tree.tap == tap for file in tree.files]
    return links, folders, scripts, trees


def _with_executable_bit(discovered: Discovered) -> frozenset[str]:
    """Return the display paths of skills' files and of files below `deps/` that have the executable bit."""
    in_trees = (file.display for tree in discovered.dep_trees for file in tree.files if file.is_executable)
    return frozenset(file.display for file in discovered.attachments if file.is_executable).union(in_trees)


def _digest(value: Any) -> str:
    return sha256_hex(canonical_json(value))
