"""`[routing.encoder_settings]`: the settings of an encoder at build time and in the bundle.

octoc reads one of them: `path`, a folder relative to the workspace. The encoder gets it absolute. The bundle has it
only if it does not ship the encoder's files, and then relative to `${workspaceFolder}`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from octoc.compiler.workspace.paths import is_folder
from octoc.plugin import PluginError
from octoc.plugin.folders import WORKSPACE_FOLDER, located

PATH = "path"


def settings_in_bundle(settings: Mapping[str, str], root: Path, *, is_shipped: bool) -> dict[str, str]:
    """Return the settings without any path of this machine.

    Args:
        settings: as written.
        root: the workspace's folder, absolute.
        is_shipped: whether the bundle contains the encoder's files, so that it needs no path.

    Raises: PluginError for a needed path outside the workspace.
    """
    others = {name: value for name, value in settings.items() if name != PATH}
    if is_shipped or PATH not in settings:
        return others
    inside = os.path.relpath(located(settings, root)[PATH], root)
    if inside == os.pardir or inside.startswith(f"{os.pardir}{os.sep}"):
        raise PluginError(
            f"its folder `{settings[PATH]}` lies outside the workspace, where no other machine finds it: "
            "move it inside, or set `ship_encoder = true`"
        )
    return {**others, PATH: f"{WORKSPACE_FOLDER}/{Path(inside).as_posix()}"}


def folder_stamp(settings: Mapping[str, str], root: Path) -> list[list[str | int]]:
    """Return name, size and time of each file in the encoder's folder, two levels deep, to detect changes.

    Digests would take too long: the model is large, and also a build without changes needs this.
    """
    if PATH not in settings:
        return []
    folder = Path(located(settings, root)[PATH])
    if not is_folder(folder):
        return []
    files: list[list[str | int]] = []
    for path in sorted([*folder.glob("*"), *folder.glob("*/*")]):
        try:
            stat = path.stat()
        except OSError:
            continue  # a broken link counts as absent
        if path.is_file():
            files.append([path.relative_to(folder).as_posix(), stat.st_size, stat.st_mtime_ns])
    return files
