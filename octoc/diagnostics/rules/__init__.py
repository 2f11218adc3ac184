"""Every rule, declared once. To add one: declare it in the module of its range, and write `../docs/OCTnnn.md`.

1xx read, 2xx check, 3xx resolve and scope, 4xx lint, 5xx lock and pins, 6xx bundle, 7xx plugins, (from 740) names
that changed and (from 760) servers, 9xx a bug in octoc.
A code is never used again.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache

from octoc.diagnostics.rule import Rule

RuleFinder = Callable[[str], Rule | None]
"""Code or name -> the rule of octoc or of a plugin, None when no such rule exists."""

PREFIX = "OCT"
"""What octoc's own codes begin with. A plugin's code begins with another word."""

_MODULES = (
    "read",
    "check",
    "resolve",
    "lint",
    "lint_taps",
    "lint_mcp",
    "lint_servers",
    "lint_agents",
    "lint_env",
    "lint_tools",
    "lint_policy",
    "lock",
    "bundle",
    "plugin",
    "evals",
    "claude",
    "renamed",
    "internal",
)


@cache
def all_rules() -> Mapping[str, Rule]:
    """Return every rule by its code, in order. Raises: RuntimeError when a code or a name is used twice."""
    found: dict[str, Rule] = {}
    for name in _MODULES:
        module = importlib.import_module(f"{__name__}.{name}")
        for rule in vars(module).values():
            if isinstance(rule, Rule):
                if rule.code in found or any(rule.name == other.name for other in found.values()):
                    raise RuntimeError(f"{rule.code} {rule.name} is declared twice")
                found[rule.code] = rule
    return dict(sorted(found.items()))


def rule_named(name: str) -> Rule | None:
    """Return the rule with this code or name, in whatever case; None when there is none."""
    return _by_name().get(name.lower())


def near_codes(number: str) -> list[str]:
    """Return the three codes nearest to `number`, ascending; digits cut short count as the first code they begin."""
    wanted = int(number.ljust(3, "0"))
    return sorted(sorted(all_rules(), key=lambda code: (abs(int(code[3:]) - wanted), code))[:3])


def advice_for(name: str) -> str | None:
    """Return the next step after `name`, which names no rule."""
    from octoc.diagnostics.suggest import did_you_mean  # which the runtime, that imports rules too, has no need of

    near = did_you_mean(name, (rule.name for rule in all_rules().values() if rule.is_configurable))
    return near or "`octoc rules` lists them"


@cache
def _by_name() -> Mapping[str, Rule]:
    return {name.lower(): rule for rule in all_rules().values() for name in (rule.code, rule.name)}
