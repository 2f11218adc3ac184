"""Claude Code's own tools, hook events and settings, as of version 2.1.240 (22 August 2026).

Sources: Claude Code, tools reference, hooks reference, settings reference, permissions.
"""

from collections.abc import Mapping

from octoc.compiler.scope.hosts import HOST_TOOLS
from octoc.diagnostics.suggest import slips_of

VERSION = "2.1.240"
_NEAR = 0.8
"""The least likeness of a name to the one that it is meant to be."""
TOOLS = frozenset(name for name in HOST_TOOLS if name[0].isupper()) | {"Cd", "EndConversation", "ListAgents"}
SHOWN_AS = {"Search": ("Glob", "Grep")}
"""Names that Claude Code shows for calls -> the tools, whose names rules need."""
_FILE_TOOLS = ("Edit", "Read", "Write")
OTHER_NAMES: Mapping[str, str] = {
    **{name: tool for tool in _FILE_TOOLS for name in (f"{tool}File", f"File{tool}", f"File{tool}Tool")},
    **{f"{tool}Tool": tool for tool in (*_FILE_TOOLS, "Bash", "Glob", "Grep")},
    "write_file": "Write", "run_shell_command": "Bash", "search_file_content": "Grep", "google_web_search": "WebSearch",
}  # fmt: skip
"""Names of tools in Gemini CLI and Qwen Code, and in code of Claude Code -> the tool that a matcher has to name."""
EVENTS = frozenset({
    "ConfigChange", "CwdChanged", "DirectoryAdded", "Elicitation", "ElicitationResult", "FileChanged",
    "InstructionsLoaded", "MessageDisplay", "Notification", "PermissionDenied", "PermissionRequest", "PostCompact",
    "PostToolBatch", "PostToolUse", "PostToolUseFailure", "PreCompact", "PreToolUse", "SessionEnd", "SessionStart",
    "Setup", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "TaskCompleted", "TaskCreated", "TeammateIdle",
    "UserPromptExpansion", "UserPromptSubmit", "WorktreeCreate", "WorktreeRemove",
})  # fmt: skip
TOOL_EVENTS = frozenset({"PermissionDenied", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "PreToolUse"})
"""Events whose `matcher` names tools."""
HOOK_FIELDS = {
    "command": ("command",), "prompt": ("prompt",), "agent": ("prompt",), "http": ("url",),
    "mcp_tool": ("server", "tool"),
}  # fmt: skip
"""Kinds of hooks, and the fields that each needs."""

PATH_TOOLS = {"Write": "Edit", "NotebookEdit": "Edit", "MultiEdit": "Edit", "Glob": "Read"}
"""Tools whose rules on paths are never consulted, and the tool whose rules are. Since version 2.1.210."""
DOMAIN_TOOLS = frozenset({"WebFetch"})
"""Tools whose rules name domains."""
CONTENT_FIELDS = {
    "Bash": "command", "PowerShell": "command", "Read": "file_path", "Edit": "file_path", "Write": "file_path",
    "Grep": "path", "Glob": "path", "NotebookEdit": "notebook_path", "WebFetch": "url",
}  # fmt: skip
"""The field of a tool's input that no rule of the form `Tool(field:value)` may match."""

MANAGED_KEYS = frozenset({
    "allowAllClaudeAiMcps", "allowManagedHooksOnly", "allowManagedMcpServersOnly", "allowManagedPermissionRulesOnly",
    "allowedChannelPlugins", "blockedMarketplaces", "browserExternalPageTools", "channelsEnabled", "claudeMd",
    "disableBrowserExternalNavigation", "disableCommandPluginSources", "disableMobileSimulatorTools",
    "disableSideloadFlags", "forceLoginGatewayUrl", "forceRemoteSettingsRefresh", "parentSettingsBehavior",
    "pluginSuggestionMarketplaces", "pluginTrustMessage", "policyHelper", "requiredMaximumVersion",
    "requiredMinimumVersion", "sshHostAllowlist", "strictKnownMarketplaces", "strictPluginOnlyCustomization",
    "wslInheritsWindowsSettings",
})  # fmt: skip
"""Keys that only an administrator's file can set."""
USER_KEYS = frozenset({
    "askUserQuestionTimeout", "dialogExpiry", "enableArtifact", "footerLinksRegexes", "pluginConfigs",
    "processWrapper", "skipAutoPermissionPrompt", "spellcheck", "sshConfigs", "vimInsertModeRemaps",
})  # fmt: skip
"""Keys that a project's files cannot set."""
GLOBAL_KEYS = frozenset({
    "autoConnectIde", "autoInstallIdeExtension", "diffTool", "externalEditorContext", "permissionExplainerEnabled",
    "teammateDefaultModel",
})  # fmt: skip
"""Keys of `~/.claude.json`."""
NOT_SHARED_KEYS = frozenset({
    "autoMode", "skipDangerousModePermissionPrompt", "syncClaudeAiSkills", "useAutoModeDuringPlan",
})  # fmt: skip
"""Keys that a project's shared file cannot set."""
KNOWN_KEYS = MANAGED_KEYS | USER_KEYS | GLOBAL_KEYS | NOT_SHARED_KEYS | {
    "additionalDirectories", "allowedHttpHookUrls", "allowedMcpServers", "apiKeyHelper", "attribution",
    "awsAuthRefresh", "awsCredentialExport", "cleanupPeriodDays", "companyAnnouncements", "defaultShell",
    "deniedMcpServers", "disableAllHooks", "disabledMcpjsonServers", "effortLevel", "enableAllProjectMcpServers",
    "enabledMcpjsonServers", "enabledPlugins", "env", "extraKnownMarketplaces", "fileSuggestion",
    "forceLoginMethod", "forceLoginOrgUUID", "hooks", "httpHookAllowedEnvVars", "includeCoAuthoredBy",
    "language", "managedMcpServers", "model", "modelOverrides", "otelHeadersHelper", "outputStyle", "permissions",
    "plansDirectory", "respectGitignore", "sandbox", "skillOverrides", "statusLine", "worktree",
}  # fmt: skip
"""Keys whose misspelling is worth a word."""
PERMISSION_KEYS = frozenset({
    "additionalDirectories", "allow", "ask", "defaultMode", "deny", "disableAutoMode", "disableBypassPermissionsMode",
})  # fmt: skip
PERMISSION_MODES = ("default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions")
"""Values of `permissions.defaultMode`, and of `permissionMode` in an agent."""
PERMISSION_WORDS = {
    "allowed": "allow", "allowlist": "allow", "allowedTools": "allow", "denied": "deny", "denylist": "deny",
    "disallow": "deny", "disallowed": "deny", "disallowedTools": "deny", "block": "deny", "blocked": "deny",
}  # fmt: skip
"""Words that people write for a list of rules -> the list."""


def nearest(name: str, known: frozenset[str]) -> tuple[str, ...]:
    """Return the known names that the unknown `name` is likely a slip of."""
    shown = tuple(one for one in SHOWN_AS.get(name, ()) if one in known)
    if shown:
        return shown
    same_case = {one for one in known if one.lower() == name.lower()}
    import difflib  # only a wrong name needs it

    near = same_case or {*slips_of(name, known), *difflib.get_close_matches(name, known, 2, _NEAR)}
    return tuple(sorted(near))
