"""What a rule is. Apart from what a finding is, so that who only names a rule loads no more than this."""

from __future__ import annotations

import enum

import attrs


class Severity(enum.IntEnum):
    """How bad it is; an error makes something unusable."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        return self.name.lower()


@attrs.frozen
class Rule:
    """One rule: its code (`OCTnnn`, never used again), its kebab-case name, one sentence, and how bad a breach is.

    `since` is the version of octoc (or of the plugin whose rule it is) that first had it.
    """

    code: str
    name: str
    summary: str
    severity: Severity = Severity.ERROR
    since: str = "0.1.0"
