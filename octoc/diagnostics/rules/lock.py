"""OCT5xx: the lock (501 to 519), and pins (540 to 549).

From 504 on each rule is one reason why `octoc.lock` does not describe what is there; only `--locked` reports them.
"""

from octoc.diagnostics.rule import Rule, Severity

LOCK_MISSING = Rule("OCT501", "lock-missing", "The build must keep to `octoc.lock`, and there is none.")
LOCK_UNREADABLE = Rule("OCT502", "lock-unreadable", "`octoc.lock` cannot be read as a lock.")
LOCK_NEWER = Rule("OCT503", "lock-format-newer", "`octoc.lock` has a newer format than this octoc reads.")
STALE_TAP = Rule("OCT504", "lock-stale-tap", "A tap was added, removed, moved or changed since the lock was written.")
STALE_FILE = Rule("OCT505", "lock-stale-file", "A file of the workspace was added, removed or changed since then.")
STALE_PROVIDER = Rule("OCT506", "lock-stale-provider", "A capability has another provider than the lock says.")
STALE_SERVER = Rule("OCT507", "lock-stale-server", "A server's definition is another than the lock says.")
STALE_SNAPSHOT = Rule("OCT508", "lock-stale-snapshot", "A server's recorded tools are others than the lock says.")
STALE_ENCODER = Rule("OCT509", "lock-stale-encoder", "The sentence encoder is another than the lock says.")
STALE_GATE = Rule("OCT510", "lock-stale-gate", "The routing gate is another than the lock says.")
STALE_PLUGIN = Rule("OCT511", "lock-stale-plugin", "A plugin has another version than the lock says.")
STALE_SETTING = Rule("OCT512", "lock-stale-setting", "A setting of the workspace is another than the lock says.")
STALE_SCOPE = Rule("OCT514", "lock-stale-scope", "An agent reaches more, or less, than the lock says.")
STALE_SEARCH = Rule("OCT515", "lock-stale-search", "What search knows of tools is other than the lock says.")
LOCK_OLDER = Rule("OCT516", "lock-revision-older", "An older octoc wrote `octoc.lock`, which pins less than this one.")
STALE_BUNDLE = Rule("OCT517", "lock-stale-bundle", "The same inputs give another bundle than the lock says.")
LOCK_NOT_WRITTEN = Rule("OCT513", "lock-not-written", "`octoc.lock` could not be written.")

DUMP_SHAPE = Rule("OCT540", "dump-shape", "A recorded dump does not hold what a server answers to `tools/list`.")
DUMP_TOOL_SKIPPED = Rule(
    "OCT541",
    "dump-tool-skipped",
    "A tool of a recorded dump has no usable name, description or schema, and is left out.",
    Severity.WARNING,
)
PIN_NO_MATCH = Rule("OCT542", "pin-no-match", "A recorded dump is of a package that no server runs.")
PIN_UNKNOWN_SERVER = Rule("OCT543", "pin-unknown-server", "A server that should be pinned is not defined.")
PIN_FAILED = Rule("OCT544", "pin-failed", "A server could not be asked for its tools, so its snapshot stays as it was.")
SNAPSHOT_NOT_WRITTEN = Rule("OCT545", "snapshot-not-written", "A snapshot could not be written.")
