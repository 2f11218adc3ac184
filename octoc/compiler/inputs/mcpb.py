"""`manifest.json` of an MCP bundle (`.mcpb`, before that `.dxt`), from which the `mcpb` program packs a server.

Seen in the source of `@anthropic-ai/mcpb` 2.1.2 (manifest versions 0.1 to 0.4): `mcpb pack` refuses unknown keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.plugin.file_kinds import FileKind


def version_of(values: Mapping[str, Any]) -> Any:
    """Return the version of a manifest's form."""
    return values.get("manifest_version", values.get("dxt_version"))


MCPB = FileKind(
    name="mcpb-manifest",
    syntax="json",
    has_defaults=True,
    content_patterns=("manifest.json",),
    # A browser's extension has the same file name, and a number as its version.
    recognize=lambda values: isinstance(version_of(values), str) and isinstance(values.get("server"), dict),
    marks=('"mcp_config"',),
    exclude="octoc.compiler.inputs.check_mcpb:is_of_other_version",
    check="octoc.compiler.inputs.check_mcpb:check_mcpb",
    key=lambda _: {},
    scan="everywhere",
    is_complete=True,
)
