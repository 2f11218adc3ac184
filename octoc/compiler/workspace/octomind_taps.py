"""The taps of Octomind's data folder, in its order of precedence."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from octoc.compiler.inputs.octomind import BUILT_IN_TAP, DATA_FOLDER, DATA_FOLDER_VARIABLE, TAP_LIST, tap_folder
from octoc.toml_limits import parse

_FOLDERS = tap_folder("*/*")


def user_data_folder() -> Path:
    """Return the user's data folder, which may not exist."""
    return Path(os.environ.get(DATA_FOLDER_VARIABLE) or Path(DATA_FOLDER).expanduser())


def octomind_taps(data: Path) -> list[tuple[str, Path]]:
    """Return name and folder of each tap in `data`: those of its list first, the built-in tap last."""
    prefix = Path(_FOLDERS).name.removesuffix("*")
    there = {f"{path.parent.name}/{path.name.removeprefix(prefix)}": path for path in sorted(data.glob(_FOLDERS))}
    listed = [name for name in _listed(data / TAP_LIST) if name in there]
    order = [*listed, *(name for name in there if name not in listed)]
    order.sort(key=lambda name: name == BUILT_IN_TAP)
    return [(name, there[name]) for name in dict.fromkeys(order) if there[name].is_dir()]


def _listed(path: Path) -> list[str]:
    """Return the names of a list of taps; none when it cannot be read: Octomind reports why."""
    try:
        taps: Any = parse(path.read_text(encoding="utf-8")).get("taps")
    except (OSError, ValueError):
        return []
    return [str(tap.get("name")) for tap in taps if isinstance(tap, dict)] if isinstance(taps, list) else []
