"""OCT490 to 499: settings of `[lint]`, and silences in comments."""

from octoc.diagnostics.rule import Rule, Severity

UNUSED_SILENCE = Rule(
    "OCT490", "unused-silence", "A comment silences a rule that finds nothing there.", Severity.WARNING
)
UNKNOWN_RULE = Rule("OCT491", "unknown-rule", "A setting or a silence names a rule that does not exist.")
BARE_SILENCE = Rule("OCT492", "bare-silence", "A comment silences without naming a rule.", Severity.WARNING)
UNMATCHED_OVERRIDE = Rule(
    "OCT493", "unmatched-override", "An override of `[lint]` is for a path that no file has.", Severity.WARNING
)
