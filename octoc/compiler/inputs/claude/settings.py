"""Claude Code's settings: those of a project, of a user, and of an administrator."""

from octoc.plugin.file_kinds import ANY, FileKind

SETTINGS_FILE = ".claude/settings.json"
LOCAL_SETTINGS_FILE = ".claude/settings.local.json"
MANAGED_FILES = ("managed-settings.json", "managed-settings.d/*.json")

CLAUDE_SETTINGS = FileKind(
    name="claude-settings",
    role="permissions",
    syntax="json",
    units=(
        *(("permissions", key, ANY) for key in ("allow", "ask", "deny")),
        *((key, ANY) for key in ("enabledMcpjsonServers", "disabledMcpjsonServers", "env")),
    ),
    has_defaults=True,
    check="octoc.compiler.inputs.claude.check_settings:check_settings",
    structure="octoc.compiler.inputs.claude.permissions:permissions_source",
    patterns=(SETTINGS_FILE, LOCAL_SETTINGS_FILE, *MANAGED_FILES),
    checked_files=(SETTINGS_FILE, LOCAL_SETTINGS_FILE),
    recognize=lambda values: (
        isinstance(values.get("permissions"), dict) and not {"allow", "ask", "deny"}.isdisjoint(values["permissions"])
    ),
    key=lambda _: {},
    scan="everywhere",
    is_complete=True,
    names_files=True,
)
