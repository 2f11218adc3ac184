"""Claude Code's plugins and marketplaces: `plugin.json` and `marketplace.json` in `.claude-plugin/`, and hooks.

Claude Code reads a plugin's `hooks/hooks.json` without a word of it in the manifest (plugins reference, 2.1.240).
Extensions of Gemini CLI and plugins of Cursor have a file of the same name in another form.
"""

from pathlib import Path

from octoc.plugin.file_kinds import ANY, FileKind

PLUGIN_FILE = ".claude-plugin/plugin.json"
MARKETPLACE_FILE = ".claude-plugin/marketplace.json"
OPTION_VARIABLE = "CLAUDE_PLUGIN_OPTION_"
"""What the variable of an option of `userConfig` begins with; its name follows."""
HOOKS_FILE = "hooks/hooks.json"
UNREAD_HOOKS_FILE = ".claude/hooks.json"
"""Where projects expect Claude Code to look for hooks, which stand in its settings (hooks reference, 2.1.240)."""
CURSOR_EVENTS = frozenset({
    "postToolUse", "postToolUseFailure", "preCompact", "preToolUse", "sessionEnd", "sessionStart", "stop",
    "subagentStart", "subagentStop",
})  # fmt: skip
"""Events of Cursor's hooks whose names differ from Claude Code's by a capital (Cursor, hooks reference, 2026-11)."""
CURSOR_ONLY_EVENTS = frozenset({
    "afterAgentResponse", "afterAgentThought", "afterFileEdit", "afterMCPExecution", "afterShellExecution",
    "afterTabFileEdit", "beforeMCPExecution", "beforeReadFile", "beforeShellExecution", "beforeSubmitPrompt",
    "beforeTabFileRead",
})  # fmt: skip
"""Events of Cursor's hooks that Claude Code has under no such name."""
_FOLDERS = (".claude", ".claude-plugin")


def is_claude_s(path: Path) -> bool:
    """Tell whether a file lies in a folder of Claude Code, or in a plugin or a marketplace, and not in a skill."""
    if not set(_FOLDERS).isdisjoint(path.parts):
        return True
    return "skills" not in path.parts[-4:-3] and any((above / _FOLDERS[1]).is_dir() for above in path.parents)


def is_agent_of_plugin(path: Path) -> bool:
    """Tell whether a file lies in the folder of agents of a plugin, or in a folder below it."""
    return any(above.name == "agents" and (above.parent / PLUGIN_FILE).is_file() for above in path.parents)


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
    is_published=True,
    names_files=True,
)
CLAUDE_HOOKS = FileKind(
    name="claude-hooks",
    syntax="json",
    has_defaults=True,
    check="octoc.compiler.inputs.claude.hooks:check_hooks_file",
    exclude="octoc.compiler.inputs.claude.hooks:is_of_other_client",
    patterns=(HOOKS_FILE, UNREAD_HOOKS_FILE),
    checked_files=(HOOKS_FILE, UNREAD_HOOKS_FILE),
    key=lambda _: {},
    scan="everywhere",
    is_complete=True,
    names_files=True,
)
