"""Lower severities by what a scan of a folder knows: where a file lies, and what many of its files have in common."""

from __future__ import annotations

from collections import defaultdict

import attrs

from octoc.compiler.inputs.agents.octo import AGENT_FILE
from octoc.compiler.policy.examples import is_example, is_template
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import UNKNOWN_FIELD, UNUSUAL_AGENT_NAME
from octoc.diagnostics.rules.claude import NAMED_FILE_MISSING
from octoc.diagnostics.rules.lint_mcp import UNSET_IN_SHELL, UNSUPPORTED_CONNECTION
from octoc.diagnostics.rules.read import DUPLICATE_KEY, EMPTY_FILE
from octoc.diagnostics.rules.resolve import KNOWN_TOKEN, NO_TOOL_RESOLVES, TWO_CREDENTIALS

_CONVENTION = 5
"""Least files with one unknown key that make it the owner's own."""
_ALWAYS = frozenset({KNOWN_TOKEN})
"""Rules that mean the same in an example."""

_OF_OCTOC = frozenset({NO_TOOL_RESOLVES, TWO_CREDENTIALS, UNSET_IN_SHELL, UNSUPPORTED_CONNECTION})
"""Rules on what octoc does with a server or an agent: without an octoc.toml, the file's own client starts it."""


def moderated(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Return the findings, in examples one severity lower, in templates and of conventions as information."""
    files: dict[str, set[str]] = defaultdict(set)
    for one in diagnostics:
        if one.rule is UNKNOWN_FIELD and one.span is not None:
            files[one.subject].add(one.span.file)
    conventions = {subject for subject, names in files.items() if len(names) >= _CONVENTION}
    return tuple(_moderated(one, conventions) for one in diagnostics)


def _moderated(one: Diagnostic, conventions: set[str]) -> Diagnostic:
    if one.severity is Severity.INFO or one.span is None or one.rule in _ALWAYS:
        return one
    file = one.span.file
    # Other frameworks have an AGENT.md, too, with names of their own form.
    is_frameworks = one.rule is UNUSUAL_AGENT_NAME and file.endswith(f"/{AGENT_FILE}") and not file.startswith(".")
    if (
        one.rule in _OF_OCTOC
        or is_frameworks
        or is_template(file)
        or (one.rule is UNKNOWN_FIELD and one.subject in conventions)
    ):
        return attrs.evolve(one, severity=Severity.INFO)
    # A client takes one of two keys, and nothing from an empty file; an empty text is not JSON.
    if one.rule is EMPTY_FILE and not file.endswith(".json"):
        return attrs.evolve(one, severity=Severity.INFO)
    if one.rule is EMPTY_FILE or (one.rule is DUPLICATE_KEY and file.endswith(".md")):
        return attrs.evolve(one, severity=Severity.WARNING)
    if is_example(file):
        is_broken = one.severity is Severity.ERROR and one.rule is not NAMED_FILE_MISSING
        return attrs.evolve(one, severity=Severity.WARNING if is_broken else Severity.INFO)
    return one
