"""Reports mistakes in `[lint]` and in suppressions: one without effect, an unknown rule, an override without a file."""

from __future__ import annotations

from collections.abc import Iterable

from octoc.compiler.model.settings import LintSettings
from octoc.compiler.policy.globs import path_matches
from octoc.compiler.policy.lint_policy import LintPolicy
from octoc.compiler.policy.suppressions import FileSuppressions, Suppression
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Requirement, Severity
from octoc.diagnostics.rules import RuleFinder, advice_for
from octoc.diagnostics.rules import lint_policy as rules

_OF_RUNS = frozenset({Requirement.GATE, Requirement.ENVIRONMENT, Requirement.LOCK})
"""What depends on the run, and not on the workspace alone as snapshots do."""


def report_policy(
    policy: LintPolicy, files: Iterable[str], sink: DiagnosticSink, *, met: frozenset[Requirement]
) -> None:
    """Report what is wrong with the suppressions of `files`, and overrides of `[lint]` that match none of them.

    Args:
        policy: the one that `sink` asks; every finding of the run has been reported before.
        files: display paths of all files that were looked at.
        met: the needs of rules that this run meets; a rule that did not run may find something at other times.
    """
    looked_at = sorted(set(files))
    for file in looked_at:
        found = policy.suppressions.of(file)
        for suppression in found.suppressions:
            _report_form(suppression, policy.named, sink)
        if file not in policy.unchecked:
            # Those of the rule itself last: they suppress what is reported here.
            _report_unused(found, sink, met, of_itself=False)
            _report_unused(found, sink, met, of_itself=True)
    _report_overrides(policy.settings, looked_at, sink)


def _report_form(suppression: Suppression, rule_of: RuleFinder, sink: DiagnosticSink) -> None:
    if not suppression.named:
        sink.report(
            rules.SUPPRESSION_WITHOUT_RULE,
            "this suppression names no rule, so it suppresses nothing",
            at=suppression.span,
            help="name the rules in brackets, as in `ignore[unpinned-package]`",
        )
    for named in suppression.named:
        if named.rule is None:
            known = rule_of(named.text)
            sink.report(
                rules.UNKNOWN_RULE,
                f"`{named.text}` cannot be suppressed: it is about the build, not about a file"
                if known is not None
                else f"unknown rule `{named.text}`",
                at=named.span,
                help=advice_for(named.text) if known is None else None,
                severity=Severity.WARNING,
            )


def _report_unused(
    found: FileSuppressions, sink: DiagnosticSink, met: frozenset[Requirement], *, of_itself: bool
) -> None:
    for suppression in found.suppressions:
        for named in suppression.named:
            if named.rule is None or named.span in found.used or named.rule.needs & _OF_RUNS - met:
                continue
            if (named.rule.code == rules.UNUSED_SUPPRESSION.code) is not of_itself:
                continue
            place = "in this file" if suppression.lines is None else "here"
            sink.report(
                rules.UNUSED_SUPPRESSION,
                "`ignore-file` counts only in the comments at the top of a file"
                if suppression.misplaced
                else f"`{named.text}` finds nothing {place}, so this suppresses nothing",
                at=named.span,
                help="move it to the top" if suppression.misplaced else "delete it",
            )


def _report_overrides(settings: LintSettings, files: list[str], sink: DiagnosticSink) -> None:
    for override in settings.overrides:
        if override.place is not None and not any(path_matches(file, override.path) for file in files):
            sink.report(
                rules.UNMATCHED_OVERRIDE,
                f"`{override.path}` matches no file of the workspace",
                at=override.place.child("path"),
                help=f"write `{override.path.rstrip('/')}/**` for all files below a folder"
                if any(file.startswith(f"{override.path.rstrip('/')}/") for file in files)
                else "paths are as findings name them, relative to octoc.toml",
            )
