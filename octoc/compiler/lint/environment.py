"""Rules over the environment contract. They run where `--env-file` or `--env` describes the environment."""

from __future__ import annotations

from collections.abc import Sequence

from octoc.compiler.lint.workspace import LintRun
from octoc.compiler.workspace.environment import Variable, contract
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rules.lint_env import ENVIRONMENT_CONTRACT, UNSET_VARIABLE
from octoc.lists import some_names
from octoc.plugin.lint import lint_check

_SHOWN = 5


@lint_check(ENVIRONMENT_CONTRACT, UNSET_VARIABLE)
def check_environment(workspace: LintRun, sink: DiagnosticSink) -> None:
    """Report each required variable that the environment lacks, at its first reference, with what needs it."""
    environment = workspace.environment
    if environment is None:
        return
    variables = contract(workspace)
    missing = [one for one in variables if one.required and environment.state(one.variable) in {"unset", "empty"}]
    for variable in missing:
        first, *others = [use for use in variable.uses if not use.has_default]
        what = {"input": "input", "cred": "credential"}.get(variable.kind, "variable")
        state = "is empty" if environment.state(variable.variable) == "empty" else "is not set"
        sink.report(
            UNSET_VARIABLE,
            f"{what} `{variable.name}`, which {_quoted('server', variable.servers)} needs, {state}",
            at=first.place,
            label=f"`{first.field}` has no default for it",
            related={f"also needed by `{use.field}` of server `{use.server}`": use.place for use in others[:_SHOWN]},
            notes=_needed_by(variable),
            help=f"set `{variable.variable}` where the bundle runs, or write a default"
            if variable.kind != "input"
            else f"set `{variable.name}` where the bundle runs: an input is looked up like a variable",
        )
    if variables:
        required = sum(variable.required for variable in variables)
        sink.report(
            ENVIRONMENT_CONTRACT,
            f"the workspace refers to {len(variables)} {_plural('variable', len(variables))}: {required} required, "
            f"{len(missing)} of them not set",
            at=Place(file=variables[0].uses[0].place.file),
            help="`octoc env` lists them",
        )


def _needed_by(variable: Variable) -> tuple[str, ...]:
    parts = (("capability", variable.capabilities), ("agent", variable.agents))
    return tuple(f"needed by {_quoted(what, names)}" for what, names in parts if names) or (
        "no agent reaches that server",
    )


def _quoted(what: str, names: Sequence[str]) -> str:
    return f"{_plural(what, len(names))} {some_names(names, _SHOWN)}"


def _plural(what: str, count: int) -> str:
    if count == 1:
        return what
    return "capabilities" if what == "capability" else f"{what}s"
