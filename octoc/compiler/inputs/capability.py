"""Capabilities of a tap: `capabilities/<capability>/config.toml`, and its providers beside it."""

from collections.abc import Mapping
from typing import Any

from octoc.plugin.file_kinds import ANY, FileKind

SERVER_UNITS = (
    ("mcp", "servers", ANY),
    ("mcp", "servers", ANY, "timeout_seconds"),
    ("mcp", "servers", ANY, "auto_bind"),
    ("deps", "require", ANY),
)
"""What can be cut out of a file with Octomind's servers."""

# Lists of these are other kinds' own.
_OF_OTHERS = frozenset({"roles", "message", "search"})


def _is_provider(values: Mapping[str, Any]) -> bool:
    has_own = not {"roles", "mcp", "deps"}.isdisjoint(values)
    return has_own and not any(isinstance(values.get(key), list) for key in (*_OF_OTHERS, "grants"))


CAPABILITY_CONFIG = FileKind(
    name="capability-config",
    role="capabilities",
    units=(("triggers", ANY),),
    check="octoc.compiler.check.octomind:check_config",
    patterns=("capabilities/*/config.toml",),
    recognize=lambda values: "triggers" in values and _OF_OTHERS.isdisjoint(values),
    key=lambda path: {"capability": path.parent.name},
    is_in_tap=True,
)
CAPABILITY_PROVIDER = FileKind(
    name="capability-provider",
    role="capabilities",
    units=(*SERVER_UNITS, ("roles", "mcp", "server_refs", ANY)),
    check="octoc.compiler.check.octomind:check_provider",
    patterns=("capabilities/*/*.toml",),
    recognize=_is_provider,
    # By itself a provider is the one in use, whatever it is called.
    key=lambda path: {"capability": path.parent.name, "provider": "default"},
    is_in_tap=True,
)
