"""Lists in settings of other clients: rules that never match, and names that occur twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.check.inspection import FileInspection
from octoc.compiler.inputs.agents.tool_lists import names_in
from octoc.compiler.inputs.settings.clients import SettingsDialect, values_at
from octoc.diagnostics.model import KeyPath
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import REPEATED_NAME
from octoc.diagnostics.rules.claude import PERMISSION_WITHOUT_EFFECT


def check_rules(values: Mapping[str, Any], dialect: SettingsDialect, inspection: FileInspection) -> None:
    """Report permission rules with one bracket of two, which name no tool."""
    for pattern in dialect.rules:
        for path, value in values_at(values, pattern):
            for text, step in names_in(value) if isinstance(value, list) else ():
                line = text.strip()
                opens, closes = "(" in line, line.endswith(")")
                if opens != closes:
                    inspection.report(
                        PERMISSION_WITHOUT_EFFECT,
                        f"rule `{line}` does not {'end with' if opens else 'have'} "
                        f"the bracket that it {'opens' if opens else 'closes'}",
                        (*path, *step),
                        help="write `Tool` or `Tool(what)`",
                        severity=Severity.WARNING,
                    )


def check_unique(values: Mapping[str, Any], dialect: SettingsDialect, inspection: FileInspection) -> None:
    """Report entries of a list that have the key of an earlier one, where the client takes each once."""
    for pattern, (key, effect) in dialect.unique.items():
        first: dict[str, KeyPath] = {}
        for path, entry in values_at(values, pattern):
            name = entry.get(key) if isinstance(entry, Mapping) else None
            if isinstance(name, str) and (other := first.setdefault(name, path)) != path:
                inspection.report(
                    REPEATED_NAME,
                    f"two entries of `{path[0]}` have the {key} `{name}`: {effect}",
                    (*path, key),
                    related={"the first is here": (*other, key)},
                    help="give one of them another",
                )
