"""Augment's `.augment/settings.json`, its servers left out.

Source: Augment, hooks of Auggie (docs.augmentcode.com/cli/hooks, November 2026): five events. It documents no other.
"""

from octoc.compiler.inputs.mcp.augment import AUGMENT as AUGMENT_SERVERS
from octoc.compiler.inputs.settings.clients import SettingsDialect

AUGMENT = SettingsDialect(
    name="augment",
    client="Augment",
    patterns=AUGMENT_SERVERS.patterns,
    reads_comments=True,
    events=frozenset({"PreToolUse", "PostToolUse", "Stop", "SessionStart", "SessionEnd"}),
)
