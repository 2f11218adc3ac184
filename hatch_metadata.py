"""Build hook: the extras of octoc, whose plugins a checkout brings along."""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_NAME = re.compile(r"(?P<name>[\w-]+)(?P<extra>\[[\w,-]+\])?")


class Extras(MetadataHookInterface):
    """Sets `optional-dependencies` to the hook's table `extras`."""

    def update(self, metadata: dict[str, Any]) -> None:
        is_release = os.environ.get("OCTOC_RELEASE") == "1"
        plugins = Path(self.root) / "plugins"
        metadata["optional-dependencies"] = {
            extra: list(items) if is_release else [_local(item, plugins) for item in items]
            for extra, items in self.config["extras"].items()
        }


def _local(requirement: str, plugins: Path) -> str:
    """Return the requirement by its folder in `plugins`, as it is where there is none."""
    match = _NAME.match(requirement)
    if match is None or not (plugins / match["name"]).is_dir():
        return requirement
    return f"{match['name']}{match['extra'] or ''} @ {(plugins / match['name']).as_uri()}"
