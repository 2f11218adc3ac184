"""The manifests of Cursor's and Codex's plugins, of marketplaces, and of Gemini CLI's extensions.

Source: Cursor, plugins reference (2026-11); Codex, `core-plugins/src/manifest.rs` (June 2026) and `marketplace.rs`
(2026), where an unknown word of a policy makes the whole file unreadable, and of two entries with one name the first is
installed; `store.rs`, where a version becomes the name of a folder, and one that is not semantic is compared as text;
Gemini CLI 0.56, `extension-manager.ts`, `extensions/extensionSettings.ts` (August 2026). Paths begin in the
plugin's folder. Cursor's schemas of a plugin and a marketplace (cursor/plugins, 2026) call `version` semantic.
GitHub Copilot CLI reads `.github/plugin/marketplace.json` (plugin reference, 2026).
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
    versions={("version",): ""},
)
CODEX_PLUGIN = attrs.evolve(
    CURSOR_PLUGIN,
    name="codex-plugin",
    client="Codex",
    patterns=(CODEX_PLUGIN_FILE,),
    versions={("version",): r"[A-Za-z0-9._+-]+"},
)
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
    unique={("plugins", "*"): ("name", "Codex installs the first")},
)
CURSOR_MARKETPLACE = SettingsDialect(
    name="cursor-marketplace",
    client="Cursor",
    patterns=(".cursor-plugin/marketplace.json",),
    files=(("plugins", "*", "source"),),
    unique={("plugins", "*"): ("name", "a name stands for one plugin")},
)
COPILOT_MARKETPLACE = attrs.evolve(
    CURSOR_MARKETPLACE,
    name="copilot-marketplace",
    client="GitHub Copilot",
    patterns=(".github/plugin/marketplace.json",),
    files=(),
)
GEMINI_EXTENSION = SettingsDialect(
    name="gemini-extension",
    client="Gemini CLI",
    patterns=("gemini-extension.json",),
    effect="Gemini CLI does not load the extension",
    schema=object_schema({"name": TEXT, "version": TEXT}, "name", "version"),
    files=(("contextFileName",), ("contextFileName", "*")),
    based_on="folder",
    versions={("version",): ""},
    needed={("settings", "*"): {"envVar": "passes what the user answers to no variable"}},
)
QWEN_EXTENSION = SettingsDialect(
    name="qwen-extension", client="Qwen Code", patterns=("qwen-extension.json",), versions=GEMINI_EXTENSION.versions
)
