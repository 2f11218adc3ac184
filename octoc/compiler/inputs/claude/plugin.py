"""Claude Code's plugins and marketplaces: `plugin.json` and `marketplace.json` in `.claude-plugin/`."""

from octoc.plugin.file_kinds import ANY, FileKind

PLUGIN_FILE = ".claude-plugin/plugin.json"
MARKETPLACE_FILE = ".claude-plugin/marketplace.json"

CLAUDE_PLUGIN = FileKind(
    name="claude-plugin",
    syntax="json",
    has_defaults=True,
    check="octoc.compiler.inputs.claude.check_plugin:check_plugin",
    patterns=(PLUGIN_FILE,),
    checked_files=(PLUGIN_FILE,),
    key=lambda _: {},
    scan="everywhere",
    is_complete=True,
    names_files=True,
)
CLAUDE_MARKETPLACE = FileKind(
    name="claude-marketplace",
    syntax="json",
    units=(("plugins", ANY),),
    has_defaults=True,
    check="octoc.compiler.inputs.claude.check_marketplace:check_marketplace",
    patterns=(MARKETPLACE_FILE,),
    checked_files=(MARKETPLACE_FILE,),
    recognize=lambda values: isinstance(values.get("plugins"), list) and {"name", "owner"} <= values.keys(),
    key=lambda _: {},
    scan="everywhere",
    is_complete=True,
    names_files=True,
)
