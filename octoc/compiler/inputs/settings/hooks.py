"""Files of hooks of Windsurf, Cursor, GitHub Copilot and Codex.

Sources: Windsurf, Cascade hooks (docs.windsurf.com, November 2026): twelve events, `command` or `powershell`.
Cursor, hooks reference (2026-11): an entry is a command unless its `type` is `prompt`.
GitHub Copilot, hooks reference (docs.github.com, 2026): each event in camel case, or as Visual Studio Code writes it;
an entry needs `bash`, `powershell`, `command` or `exec`.
Codex, `hooks/src/engine/discovery.rs` (2026): it reads none of a file in which a command has no `command`.
"""

import attrs

from octoc.compiler.inputs.claude.plugin import CURSOR_EVENTS, CURSOR_ONLY_EVENTS, HOOKS_FILE
from octoc.compiler.inputs.claude.tools import EVENTS as CLAUDE_EVENTS
from octoc.compiler.inputs.settings.clients import SettingsDialect
from octoc.compiler.inputs.settings.hook_form import CODEX_HOOK_FORM, GEMINI_HOOK_FORM, HookForm
from octoc.compiler.inputs.settings.plugins import CODEX_PLUGIN_FILE, CURSOR_PLUGIN_FILE

WINDSURF_HOOKS = SettingsDialect(
    name="windsurf-hooks",
    client="Windsurf",
    patterns=(".windsurf/hooks.json", ".codeium/windsurf/hooks.json", ".codeium/hooks.json"),
    hooks=HookForm(
        events=frozenset({
            "pre_read_code", "post_read_code", "pre_write_code", "post_write_code", "pre_run_command",
            "post_run_command", "pre_mcp_tool_use", "post_mcp_tool_use", "pre_user_prompt", "post_cascade_response",
            "post_cascade_response_with_transcript", "post_setup_worktree",
        }),
        other_events={"pre_edit_code": "pre_write_code", "post_edit_code": "post_write_code"},
        is_flat=True,
        runs={"command": ("command", "powershell")},
        working_folder="working_directory",
    ),
)  # fmt: skip

_CURSOR = HookForm(
    events=CURSOR_EVENTS | CURSOR_ONLY_EVENTS | {"workspaceOpen"},
    other_events={"userPromptSubmit": "beforeSubmitPrompt", "UserPromptSubmit": "beforeSubmitPrompt"},
    is_flat=True,
    takes_groups=True,
)
CURSOR_HOOKS = SettingsDialect(
    name="cursor-hooks", client="Cursor", patterns=(".cursor/hooks.json",), reads_comments=True, hooks=_CURSOR
)
CURSOR_PLUGIN_HOOKS = SettingsDialect(
    name="cursor-plugin-hooks",
    client="Cursor",
    patterns=(HOOKS_FILE,),
    beside=(f"../{CURSOR_PLUGIN_FILE}",),
    hooks=attrs.evolve(_CURSOR, runs={}, needs_own_event=True),
)

_COPILOT_EVENTS = frozenset({
    "agentStop", "errorOccurred", "notification", "permissionRequest", "postToolUse", "postToolUseFailure",
    "preCompact", "preToolUse", "sessionEnd", "sessionStart", "subagentStart", "subagentStop", "userPromptSubmitted",
    "userPromptTransformed", "preMcpToolCall",
})  # fmt: skip
COPILOT_HOOKS = SettingsDialect(
    name="copilot-hooks",
    client="GitHub Copilot",
    patterns=(".github/hooks/*.json", ".copilot/hooks/*.json"),
    hooks=HookForm(
        events=_COPILOT_EVENTS
        | {f"{event[0].upper()}{event[1:]}" for event in _COPILOT_EVENTS}
        | {"UserPromptSubmit", "Stop"},
        is_flat=True,
        takes_groups=True,
        runs={"command": ("bash", "powershell", "command", "exec", "windows", "linux", "osx")},
        working_folder="cwd",
        needs_own_event=True,
    ),
)

CODEX_HOOKS = SettingsDialect(
    name="codex-hooks",
    client="Codex",
    patterns=(".codex/hooks.json",),
    effect="Codex reads none of the hooks of this file",
    hooks=CODEX_HOOK_FORM,
)
CODEX_PLUGIN_HOOKS = SettingsDialect(
    name="codex-plugin-hooks",
    client="Codex",
    patterns=(HOOKS_FILE,),
    beside=(f"../{CODEX_PLUGIN_FILE}",),
    # A plugin of several clients has one file for all of them.
    hooks=attrs.evolve(CODEX_HOOK_FORM, events=CODEX_HOOK_FORM.events | CLAUDE_EVENTS, runs={}, needs_own_event=True),
)
GEMINI_EXTENSION_HOOKS = SettingsDialect(
    name="gemini-extension-hooks",
    client="Gemini CLI",
    patterns=(HOOKS_FILE,),
    beside=("../gemini-extension.json",),
    hooks=attrs.evolve(GEMINI_HOOK_FORM, events=GEMINI_HOOK_FORM.events | CLAUDE_EVENTS | CURSOR_EVENTS, runs={}),
)
