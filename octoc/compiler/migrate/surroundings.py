"""What a folder has already that a migration builds on: servers that are defined, and tools that were recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from octoc.compiler.inputs.snapshot import SNAPSHOT
from octoc.compiler.read.json import relax
from octoc.compiler.structure.settings import name_of_folder
from octoc.compiler.workspace.init import Inputs, find_inputs

_MOST_BYTES = 64 * 1024 * 1024


@attrs.frozen(kw_only=True)
class Surroundings:
    """A folder's name and inputs, the names of its servers, and the servers that have each recorded tool."""

    name: str
    inputs: Inputs = attrs.field(factory=Inputs)
    servers: frozenset[str] = frozenset()
    owners: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)


def surroundings_of(folder: Path) -> Surroundings:
    """Look at `folder`. A file that cannot be read is left to `octoc check`. Raises: OSError for the folder itself."""
    inputs = find_inputs(folder)
    servers: set[str] = set()
    for name in inputs.mcp_files:
        values = _object(folder / name)
        for under in ("mcpServers", "servers"):
            servers.update(map(str, _mapping(values.get(under))))
    owners: dict[str, list[str]] = {}
    for path in sorted(found for pattern in SNAPSHOT.workspace_files for found in folder.glob(pattern)):
        values = _object(path)
        tools = values.get("tools")
        for tool in tools if isinstance(tools, list) else ():
            known = _mapping(tool).get("name")
            if isinstance(known, str):
                owners.setdefault(known, []).append(str(values.get("server", path.stem)))
    return Surroundings(
        name=name_of_folder(folder),
        inputs=inputs,
        servers=frozenset(servers),
        owners={tool: tuple(names) for tool, names in owners.items()},
    )


def _object(path: Path) -> Mapping[str, Any]:
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return {}
        return _mapping(json.loads(relax(path.read_text(encoding="utf-8-sig")).text))
    except (OSError, ValueError, RecursionError):
        return {}


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
