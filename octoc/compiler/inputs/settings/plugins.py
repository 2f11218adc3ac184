"""The manifests of Cursor's and Codex's plugins, of Codex's marketplaces, and of Gemini CLI's extensions.

Source: Cursor, plugins reference (2026-11); Codex, `core-plugins/src/manifest.rs` (June 2026) and `marketplace.rs`
(2026), where an unknown word of a policy makes the whole file unreadable;
Gemini CLI 0.56, `extension-manager.ts`, `extensions/extensionSettings.ts` (August 2026). Paths begin in the
plugin's folder.
"""

import attrs

from octoc.compiler.inputs.agents.clients import TEXT, object_schema
from octoc.compiler.inputs.settings.clients import SettingsDialect

CURSOR_PLUGIN_FILE = ".cursor-plugin/plugin.json"
CODEX_PLUGIN_FILE = ".codex-plugin/plugin.json"
"""The manifest of a plugin of Codex, which reads `hooks/hooks.json` beside it, too."""
_PARTS = ("rules", "skills", "agents", "commands", "hooks", "mcpServers")

CURSOR_PLUGIN = SettingsDialect(
    name="cursor-plugin",
    client="Cursor",
    patterns=(CURSOR_PLUGIN_FILE,),
    files=tuple(path for part in _PARTS for path in ((part,), (part, "*"))),
)
CODEX_PLUGIN = attrs.evolve(CURSOR_PLUGIN, name="codex-plugin", client="Codex", patterns=(CODEX_PLUGIN_FILE,))
_POLICY = object_schema(
    {
        "installation": {"enum": ["AVAILABLE", "INSTALLED_BY_DEFAULT", "NOT_AVAILABLE"]},
        "authentication": {"enum": ["ON_INSTALL", "ON_USE"]},
    }
)
CODEX_MARKETPLACE = SettingsDialect(
    name="codex-marketplace",
    client="Codex",
    patterns=(".agents/plugins/marketplace.json",),
    effect="Codex skips the marketplace",
    schema=object_schema(
        {"name": TEXT, "plugins": {"type": "array", "items": object_schema({"name": TEXT, "policy": _POLICY})}}
    ),
)
GEMINI_EXTENSION = SettingsDialect(
    name="gemini-extension",
    client="Gemini CLI",
    patterns=("gemini-extension.json",),
    effect="Gemini CLI does not load the extension",
    schema=object_schema({"name": TEXT, "version": TEXT}, "name", "version"),
    files=(("contextFileName",), ("contextFileName", "*")),
    based_on="folder",
    needed={("settings", "*"): {"envVar": "passes what the user answers to no variable"}},
)
