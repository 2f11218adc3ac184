"""Every rule, declared once. To add one: declare it in the module of its range, and write `../docs/OCTnnn.md`.

1xx read, 2xx check, 3xx resolve and scope, 4xx lint, 5xx lock and pins, 6xx bundle, 7xx plugins, 9xx a bug in octoc.
A code is never used again.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache

from octoc.diagnostics.model import Rule

_MODULES = ("read", "check", "resolve", "lint", "lock", "bundle", "plugin", "internal")


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
