"""Rules over skills: their activation rules, the capabilities that they ask for, and their folders."""

from __future__ import annotations

from octoc.compiler.discover.tap import RESOURCE_FOLDERS
from octoc.compiler.fixes.edits import renamed
from octoc.compiler.lint.taps.letter_case import needs_capitals
from octoc.compiler.lint.taps.lookup import inside, meant
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.source import SkillSource
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_taps import (
    BAD_EXPRESSION,
    CASE_SENSITIVE_MATCH,
    DORMANT_SKILL,
    SKILL_NEEDS_HIDDEN,
    SKILL_WITHOUT_SERVERS,
    UNCLOSED_CHECK,
    UNKNOWN_CHECK,
    UNLISTED_FOLDER,
)
from octoc.diagnostics.suggest import did_you_mean, near_names
from octoc.lists import name_list
from octoc.plugin.lint import lint_check
from octoc.routing.skill_rules import CHECKS, Check, RuleProblem, expression_error, parse_rule


@lint_check(BAD_EXPRESSION, CASE_SENSITIVE_MATCH, UNCLOSED_CHECK, UNKNOWN_CHECK)
def check_rules(build: Build, sink: DiagnosticSink) -> None:
    """Report the parts of a skill's rules without effect, and `match(…)` that needs capital letters."""
    for skill in build.resolved.skills:
        for line in skill.source.rules:
            rule = parse_rule(line.value)
            for problem in rule.problems:
                _report_problem(problem, line, sink, is_alone=not rule.checks)
            for check in rule.checks:
                _check_expression(check, line, sink)


@lint_check(DORMANT_SKILL)
def check_activation(build: Build, sink: DiagnosticSink) -> None:
    """Report a skill that only its name activates."""
    for skill in build.resolved.skills:
        source = skill.source
        if not _is_octominds(source):
            continue
        missing = [key for key, value in (("rules", source.rules), ("domains", source.domains)) if not value]
        if missing:
            lacks = " and no ".join(f"`{key}`" for key in missing)
            sink.report(
                DORMANT_SKILL,
                f"skill `{source.name}` has no {lacks}: only its name activates it",
                at=source.place.child("name"),
                help=f"add {' and '.join(f'`{key}`' for key in missing)}, or leave it to be used by name",
            )


@lint_check(SKILL_NEEDS_HIDDEN, SKILL_WITHOUT_SERVERS)
def check_needs(build: Build, sink: DiagnosticSink) -> None:
    """Report capabilities that a skill asks for and that Octomind does not load for skills."""
    capabilities = {capability.name: capability for capability in build.resolved.capabilities}
    for skill in build.resolved.skills:
        for reference in skill.source.capabilities:
            capability = meant(reference, skill.capabilities, capabilities)
            if capability is None:
                continue
            if not capability.grants and capability.deps:
                sink.report(
                    SKILL_WITHOUT_SERVERS,
                    f"skill `{skill.source.name}` asks for capability `{capability.name}`, which has only "
                    "dependencies: using a skill installs none",
                    at=reference.place,
                    related={"its dependencies": capability.place.child("deps", "require")},
                    help="let the agent grant the capability, or say in the skill what must be installed",
                )
            elif not capability.triggers:
                sink.report(
                    SKILL_NEEDS_HIDDEN,
                    f"skill `{skill.source.name}` asks for capability `{capability.name}`, which has no trigger: "
                    "Octomind hides it, so the skill cannot load it there",
                    at=reference.place,
                    related={"this capability": capability.place},
                    notes=("octoc loads it",),
                    help=f"add `triggers` to capabilities/{capability.name}/config.toml",
                )


@lint_check(UNLISTED_FOLDER)
def check_folders(build: Build, sink: DiagnosticSink) -> None:
    """Report a folder beside a SKILL.md that neither octoc nor Octomind lists to the model."""
    for skill in build.resolved.skills:
        folder = skill.source.folder
        for name in folder.unlisted if folder is not None and _is_octominds(skill.source) else ():
            near = near_names(name, RESOURCE_FOLDERS)
            listed = ", ".join(f"`{folder_name}/`" for folder_name in RESOURCE_FOLDERS)
            sink.report(
                UNLISTED_FOLDER,
                f"the files in `{name}/` of skill `{skill.source.name}` are not listed to the model",
                at=Place(file=skill.source.place.file.removesuffix("SKILL.md") + name),
                notes=(f"listed are {listed}",),
                help=f"rename it to `{near[0]}/`" if near else "move them to one of these folders",
                # A folder of another purpose, such as `tests/`, is often unlisted on purpose.
                severity=None if near else Severity.INFO,
            )


def _is_octominds(source: SkillSource) -> bool:
    """Tell whether Octomind reads the skill: it is in a tap, or has keys that only Octomind knows."""
    return bool(source.tap or source.rules or source.domains or source.capabilities)


def _report_problem(problem: RuleProblem, line: Located[str], sink: DiagnosticSink, *, is_alone: bool) -> None:
    at = inside(line, *problem.span)
    effect = "Octomind drops the whole line" if is_alone else "Octomind ignores it and keeps the rest of the line"
    if problem.kind == "unclosed":
        sink.report(
            UNCLOSED_CHECK,
            f"`{problem.name}(` has no closing parenthesis",
            at=at,
            notes=(effect, "every parenthesis counts, also after a backslash"),
            help="add `)`, or write `\\x28` for a parenthesis that is only text",
        )
        return
    if problem.kind == "stray":
        sink.report(
            UNKNOWN_CHECK,
            f"`{problem.name}` is not a check: expected `name(argument)`",
            at=at,
            notes=(effect,),
            help=f"checks are {_listed()}",
        )
        return
    name_at = inside(line, problem.span[0], problem.span[0] + len(problem.name))
    sink.report(
        UNKNOWN_CHECK,
        f"unknown check `{problem.name}` in a skill's rules",
        at=name_at,
        notes=(effect,),
        help=did_you_mean(problem.name, CHECKS) or f"checks are {_listed()}",
        fix=renamed(name_at, problem.name, CHECKS),
    )


def _check_expression(check: Check, line: Located[str], sink: DiagnosticSink) -> None:
    if check.expression is None:
        return
    text, span = check.expression
    error = expression_error(text)
    if error is not None:
        sink.report(
            BAD_EXPRESSION,
            f"`{text}` is not a regular expression that RE2 reads: {error}",
            at=inside(line, *span),
            notes=("Octomind drops the check without a message",),
            help="write it without look-around and back-references, every bracket closed",
        )
    elif check.name == "match" and needs_capitals(text):
        sink.report(
            CASE_SENSITIVE_MATCH,
            f"`match({text})` matches only messages with the same capital letters",
            at=inside(line, *span),
            help="put `(?i)` in front unless case matters",
        )


def _listed() -> str:
    return name_list(CHECKS)
