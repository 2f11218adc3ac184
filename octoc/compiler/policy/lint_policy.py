"""The policy that a sink asks about each finding: suppressed here, suppressed by settings, or of another severity."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs

from octoc.compiler.model.settings import LintSettings
from octoc.compiler.policy.globs import path_matches
from octoc.compiler.policy.suppressions import Suppressions
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules import RuleFinder, rule_named

OFF = "off"


@attrs.define
class LintPolicy:
    """Called with a finding, returns it with the severity that the workspace gives it, or None when it is suppressed.

    What a rule's finding excludes stays excluded. Findings of rules of scope BUILD stay as they are.

    `unchecked` are the files that have an error of a rule that excludes, suppressed or not: later rules did not see all
    of them.
    """

    settings: LintSettings
    suppressions: Suppressions
    named: RuleFinder = rule_named
    unchecked: set[str] = attrs.field(factory=set)
    _rules: Mapping[str, str] = attrs.field(init=False)
    _overrides: tuple[tuple[str, Mapping[str, str]], ...] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._rules = self._by_code(self.settings.rules)
        self._overrides = tuple((override.path, self._by_code(override.rules)) for override in self.settings.overrides)

    def __call__(self, found: Diagnostic) -> Diagnostic | None:
        if not found.rule.is_configurable:
            return found
        file = found.span.file if found.span is not None else None
        if file is not None:
            if found.severity is Severity.ERROR and found.rule.excludes:
                self.unchecked.add(file)
            # Before the settings: a suppression is in use even where the rule is off.
            if self.suppressions.of(file).suppress(found):
                return None
        word = self._word(found.rule.code, file)
        if word is None:
            return found
        return None if word == OFF else attrs.evolve(found, severity=Severity[word.upper()])

    def _word(self, code: str, file: str | None) -> str | None:
        word = self._rules.get(code)
        for path, rules in self._overrides:
            if file is not None and code in rules and path_matches(file, path):
                word = rules[code]
        return word

    def _by_code(self, rules: Mapping[str, str]) -> Mapping[str, str]:
        """Return the severities by code; the first of two names of one rule counts."""
        pairs = reversed(list(rules.items()))
        return {rule.code: word for name, word in pairs if (rule := self.named(name)) is not None}


def policy_of(
    settings: LintSettings, read_text: Callable[[str], str | None], named: RuleFinder = rule_named
) -> LintPolicy:
    """Return the policy of a workspace's settings.

    Args:
        read_text: display path -> the text as it was read, or None when there is none (see `read.text_reader`).
        named: finds the rules of octoc and of the workspace's plugins.
    """
    return LintPolicy(settings=settings, suppressions=Suppressions(read_text=read_text, named=named), named=named)
