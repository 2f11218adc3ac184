"""OCT5xx: the lock (501 to 519), and pins (540 to 549).

From 504 on each rule is one reason why `octoc.lock` does not describe what is there; only `--locked` reports them.
"""

from functools import partial

from octoc.diagnostics.rule import Rule, Scope, Severity

rule = partial(Rule, scope=Scope.BUILD)

LOCK_MISSING = rule("OCT501", "lock-missing", "`octoc build --locked` needs `octoc.lock`, which does not exist.")
LOCK_UNREADABLE = rule("OCT502", "lock-unreadable", "`octoc.lock` cannot be read as a lock.")
LOCK_CONFLICT = rule("OCT772", "lock-conflict", "`octoc.lock` has the marks of a merge that was not resolved.")
PACKAGE_CHANGED = rule(
    "OCT775", "package-changed", "A registry has other files of a locked version than `octoc.lock` has hashes of."
)
NOT_IN_LOCK = rule(
    "OCT787", "package-not-locked", "`octoc build --frozen` needs the version of a package that `octoc.lock` lacks."
)
LOCK_NEWER = rule("OCT503", "lock-format-newer", "`octoc.lock` has a newer format than this octoc reads.")
STALE_TAP = rule("OCT504", "lock-stale-tap", "A tap was added, removed, moved or changed since the lock was written.")
STALE_FILE = rule(
    "OCT505", "lock-stale-file", "A file of the workspace was added, removed or changed since the lock was written."
)
STALE_PROVIDER = rule("OCT506", "lock-stale-provider", "A capability has another provider than in the lock.")
STALE_SERVER = rule("OCT507", "lock-stale-server", "A server's definition differs from the lock.")
STALE_SNAPSHOT = rule("OCT508", "lock-stale-snapshot", "A server's recorded tools differ from the lock.")
STALE_ENCODER = rule("OCT509", "lock-stale-encoder", "The sentence encoder differs from the lock.")
STALE_GATE = rule("OCT510", "lock-stale-gate", "The routing gate differs from the lock.")
STALE_PLUGIN = rule("OCT511", "lock-stale-plugin", "A plugin has another version than in the lock.")
STALE_SETTING = rule("OCT512", "lock-stale-setting", "A setting of the workspace differs from the lock.")
STALE_SCOPE = rule("OCT514", "lock-stale-scope", "An agent reaches more or fewer tools than in the lock.")
STALE_SEARCH = rule("OCT515", "lock-stale-search", "The texts that tool search ranks by differ from the lock.")
LOCK_OLDER = rule("OCT516", "lock-revision-older", "An older octoc wrote `octoc.lock`, which pins less than this one.")
STALE_BUNDLE = rule("OCT517", "lock-stale-bundle", "The same inputs give another bundle than in the lock.")
PROGRAM_NOT_PINNED = rule(
    "OCT518",
    "program-not-pinned",
    "A server runs a program of the workspace or a tap that the lock cannot pin.",
    Severity.WARNING,
)
COMPILED_FILE = rule(
    "OCT523", "compiled-file-not-pinned", "A skill's folder has compiled Python, which the lock does not pin."
)
LOCK_NOT_WRITTEN = rule("OCT513", "lock-not-written", "`octoc.lock` could not be written.")

DUMP_SHAPE = rule("OCT540", "dump-shape", "A recorded dump has no answer to `tools/list`.")
DUMP_TOOL_SKIPPED = rule(
    "OCT541",
    "dump-tool-skipped",
    "A tool of a recorded dump has no usable name, description or schema, and is left out.",
    Severity.WARNING,
)
PIN_NO_MATCH = rule("OCT542", "pin-no-match", "A recorded dump is of a package that no server runs.")
PIN_UNKNOWN_SERVER = rule("OCT543", "pin-unknown-server", "A server that should be pinned is not defined.")
PIN_FAILED = rule("OCT544", "pin-failed", "A server did not list its tools, so its snapshot is unchanged.")
SNAPSHOT_NOT_WRITTEN = rule("OCT545", "snapshot-not-written", "A snapshot could not be written.")
COMMAND_NOT_APPROVED = rule(
    "OCT791", "command-not-approved", "`octoc pin` did not start a command line that you have not approved."
)
PIN_NOT_APPROVED = rule("OCT792", "pin-not-approved", "A change of a server was shown, and not approved.")
