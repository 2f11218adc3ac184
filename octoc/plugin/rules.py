"""The lint rules of plugins: which may be used, which are refused and why, and how a name finds its rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

import attrs

from octoc.diagnostics.rule import Rule, Scope
from octoc.diagnostics.rules import PREFIX, RuleFinder, all_rules, rule_named
from octoc.plugin.lint import LintCheck
from octoc.plugin.manager import HookResult, Plugins

_CODE = re.compile(r"[A-Z][A-Z0-9]*?[0-9]{3}")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@attrs.frozen
class RegisteredCheck:
    """A check, and who registers it; `is_own` is octoc itself."""

    plugin: str
    check: LintCheck
    is_own: bool


@attrs.frozen
class RefusedPart:
    """What of a plugin cannot be used, on one line, and what to do."""

    message: str
    help: str


@attrs.frozen(kw_only=True)
class LintRules:
    """What octoc and plugins register. `rules` are those of plugins, by code; octoc's own are `all_rules()`."""

    checks: tuple[RegisteredCheck, ...]
    rules: Mapping[str, Rule]
    refused: tuple[RefusedPart, ...]

    def named(self, name: str) -> Rule | None:
        """Return the rule with this code or name, in whatever case; None when no such rule exists."""
        word = name.lower()
        rules = self.rules.values()
        return rule_named(name) or next((rule for rule in rules if word in (rule.code.lower(), rule.name)), None)


def lint_rules(plugins: Plugins) -> LintRules:
    """Return what `plugins` register by `octoc_lint_rules`: octoc's own first, then plugins by name."""
    checks: list[RegisteredCheck] = []
    rules: dict[str, Rule] = {}
    owners: dict[str, str] = {}
    refused: list[RefusedPart] = []
    for answer in plugins.answers("octoc_lint_rules"):
        if answer.error:
            refused.append(RefusedPart(f"plugin `{answer.plugin}` cannot register its rules{answer.error}", REPORT))
        for check in answer.items:
            why = "" if answer.is_own else _why_refused(check, answer, rules, owners)
            if why:
                refused.append(RefusedPart(f"plugin `{answer.plugin}` registers {why}", REPORT))
                continue
            checks.append(RegisteredCheck(answer.plugin, check, answer.is_own))
            if not answer.is_own:
                rules |= {rule.code: rule for rule in check.rules}
                owners |= {rule.code: answer.plugin for rule in check.rules}
    return LintRules(checks=tuple(checks), rules=rules, refused=tuple(refused))


def rule_finder(plugins: Plugins) -> RuleFinder:
    """Return what finds rules by code or name. `plugins` load when octoc has no rule of a name."""

    @cache
    def registered() -> LintRules:
        return lint_rules(plugins)

    return lambda name: rule_named(name) or registered().named(name)


REPORT = "report it to the plugin's author, or take the plugin out of `[plugins] use`"


def _why_refused(check: object, answer: HookResult, rules: Mapping[str, Rule], owners: Mapping[str, str]) -> str:
    """Return what is wrong with a plugin's check, to follow "registers"; empty when it can be used."""
    if not isinstance(check, LintCheck) or not check.rules:
        return f"`{type(check).__name__}` where a check with rules is expected"
    for rule in check.rules:
        why = _why_unsound(rule) or _why_taken(rule, answer.plugin, rules.values(), owners)
        if why:
            return f"rule `{rule.code}`, {why}"
    return ""


def _why_unsound(rule: Rule) -> str:
    if rule.code.startswith(PREFIX):
        return f"whose code begins with `{PREFIX}`, as octoc's own do"
    if not _CODE.fullmatch(rule.code):
        return "whose code is not a word in capitals and three digits, as `ACME001`"
    if not _NAME.fullmatch(rule.name):
        return f"whose name `{rule.name}` is not lower-case words joined by `-`"
    return "" if rule.scope is not Scope.BUILD else "whose scope is neither a file nor the workspace"


def _why_taken(rule: Rule, plugin: str, rules: Iterable[Rule], owners: Mapping[str, str]) -> str:
    for other in (*rules, *all_rules().values()):
        if other == rule and owners.get(other.code) == plugin:
            continue
        owner = f"plugin `{owners[other.code]}`" if other.code in owners else "octoc"
        if other.code == rule.code:
            return f"which {owner} has too"
        if other.name == rule.name:
            return f"whose name `{rule.name}` rule `{other.code}` of {owner} has"
    return ""
