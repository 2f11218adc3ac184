"""The names of rules in `[lint]`: each must be a rule that a workspace may change, and stand there once."""

from __future__ import annotations

from collections.abc import Mapping

from octoc.compiler.model.settings import WorkspaceSettings
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules import RuleFinder, advice_for
from octoc.diagnostics.rules.check import REPEATED_NAME
from octoc.diagnostics.rules.lint_policy import UNKNOWN_RULE


def report_names(settings: WorkspaceSettings, named: RuleFinder, sink: DiagnosticSink) -> None:
    """Report each name in `[lint]` that is not a rule, that no workspace may change, or that repeats a rule.

    Args:
        named: finds the rules of octoc and of the workspace's plugins.
    """
    _report_names(settings.lint.rules, settings.place.child("lint", "rules"), named, sink)
    for override in settings.lint.overrides:
        if override.place is not None:
            _report_names(override.rules, override.place.child("rules"), named, sink)


def _report_names(severities: Mapping[str, str], at: Place, named: RuleFinder, sink: DiagnosticSink) -> None:
    seen: dict[str, str] = {}
    for name in severities:
        rule, place = named(name), at.child(name).key()
        if rule is None:
            sink.report(UNKNOWN_RULE, f"unknown rule `{name}`", at=place, help=advice_for(name))
        elif not rule.is_configurable:
            message = f"`{name}` has a severity of its own: it is about the build, not about a file"
            sink.report(UNKNOWN_RULE, message, at=place)
        elif (first := seen.setdefault(rule.code, name)) != name:
            sink.report(
                REPEATED_NAME,
                f"`{first}` and `{name}` are the same rule",
                at=place,
                related={"the first is here": at.child(first)},
                help="keep one of them",
            )
