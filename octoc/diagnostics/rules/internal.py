"""OCT9xx: a bug in octoc itself."""

from octoc.diagnostics.rule import Rule

INTERNAL_ERROR = Rule("OCT901", "internal-error", "octoc failed in a way that is not the user's mistake.")
