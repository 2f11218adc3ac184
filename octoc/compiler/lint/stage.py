"""lint: checks over the whole workspace, octoc's own and those of plugins."""

from __future__ import annotations

from octoc.compiler.context import Context
from octoc.compiler.lint.core import CoreChecks
from octoc.compiler.lint.workspace import LintRun, lint_workspace
from octoc.compiler.model.build import Build
from octoc.compiler.policy.report import report_policy
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.plugin import LINT_RULE_FAILED, LINT_RULE_REFUSED
from octoc.plain_text import because
from octoc.plugin.rules import RegisteredCheck, lint_rules


def lint(build: Build, context: Context) -> Build:
    """Run every check whose needs are met, and return the build unchanged."""
    workspace = lint_workspace(build, context)
    context.plugins.add_own(CoreChecks())
    registered = lint_rules(context.plugins)
    for refused in registered.refused:
        use = build.settings.place.child("plugins", "use")
        context.sink.report(LINT_RULE_REFUSED, refused.message, at=use, help=refused.help)
    for entry in registered.checks:
        if entry.check.needs <= workspace.has and (entry.check.is_of_one_file or not context.one_file):
            _run(entry, workspace, context.sink)
    if context.policy is not None:
        files = (build.settings.place.file, *(file.display for file in build.discovered.files))
        report_policy(context.policy, files, context.sink, met=workspace.has)
    return build


def _run(entry: RegisteredCheck, workspace: LintRun, sink: DiagnosticSink) -> None:
    """Run one check. Report an exception of a plugin's check; an exception of octoc's own is a bug and propagates."""
    own = sink.only(entry.check.rules)
    if entry.is_own:
        entry.check.run(workspace, own)
        return
    try:
        entry.check.run(workspace, own)
    except Exception as error:  # noqa: BLE001  # a plugin can raise anything
        names = ", ".join(f"`{rule.code}`" for rule in entry.check.rules)
        sink.report(
            LINT_RULE_FAILED,
            f"the check of {names} in plugin `{entry.plugin}` failed{because(error)}",
            at=workspace.settings.place.child("plugins", "use"),
            help="report it to the plugin's author, or take the plugin out of `[plugins] use`",
        )
