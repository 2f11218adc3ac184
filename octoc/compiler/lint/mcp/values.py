"""Rules over the texts of a server's definition: references that nothing replaces, and surrounding white space."""

from __future__ import annotations

import bisect
import re
import sys
from collections.abc import Iterator
from itertools import islice

import attrs

from octoc.compiler.fixes.edits import removed, replaced
from octoc.compiler.lint.mcp.commands import has_shell
from octoc.compiler.model.build import Build
from octoc.compiler.resolve.definitions import Definition, Value, definitions, values_of
from octoc.credentials import is_literal_secret
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_mcp import NESTED_REFERENCE, SURROUNDING_SPACE, UNEXPANDED_REFERENCE
from octoc.plugin.file_kinds import Dialect
from octoc.plugin.lint import lint_check
from octoc.references import find_references

# Only capitals: programs and queries contain `$x` and `$schema`. After a character other than these marks, a `$` is
# likely part of a password, and no message may show a part of one.
_BARE = re.compile(r"""(?:(?<=[\s/:=,@"'])|\A)\$(?P<name>[A-Z_][A-Z0-9_]{1,99})(?![A-Za-z0-9_(])""")
_BRACED = re.compile(r"\$\{(?P<inside>[^{}]*)\}")
_SHOWABLE = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,60}\Z")
_MAX_OF_ONE_VALUE = 20
"""Maximum number of findings in one text: each finding scans the whole text."""
# Fields whose surrounding white space never has a meaning. In `args` and `env` it can be a separator or a prompt.
_TRIMMABLE = frozenset({"command", "cwd", "envFile", "url", "headers"})


@lint_check(NESTED_REFERENCE, SURROUNDING_SPACE, UNEXPANDED_REFERENCE)
def check_values(build: Build, sink: DiagnosticSink) -> None:
    """Report references that nothing replaces, and values with surrounding white space."""
    for definition in definitions(build.sources):
        if definition.source.disabled:
            continue
        for value in values_of(definition.source):
            _check_space(definition, value, sink)
            if "$" in value.text and not (value.field == "args" and has_shell(definition.source)):
                _check_references(definition, value, sink)


def _check_references(definition: Definition, value: Value, sink: DiagnosticSink) -> None:
    text, name = value.text, definition.source.name
    references = find_references(text)
    nested = (one for one in references if one.default is not None and "${" in one.default)
    for reference in islice(nested, _MAX_OF_ONE_VALUE):
        start, end = reference.span
        end = end + 1 if text[end : end + 1] == "}" else end
        plain = "set that variable, or write a default that is plain text"
        if not definition.dialect.variable_with_default:
            plain = "set that variable: a tap's placeholders have no default"
        sink.report(
            NESTED_REFERENCE,
            f"the default of `{reference.name}` in `{value}` of server `{name}` is a reference, "
            "and nothing replaces it",
            at=attrs.evolve(value.place, within=(start, end)),
            help=f"write `{definition.dialect.variable_named(reference.name)}` and {plain}",
        )
    spans = [one.span for one in references]
    for start, end, label, variable in islice(_unexpanded(text, spans), _MAX_OF_ONE_VALUE):
        # A text that is a secret even without `$VAR` must not be shown; OCT340 reports it.
        if is_literal_secret(value.name, text[:start] + text[end:]):
            continue
        at = attrs.evolve(value.place, within=(start, end))
        reference_form = definition.dialect.variable_named(variable) if variable else ""
        advice = f"write `{reference_form}`"
        sink.report(
            UNEXPANDED_REFERENCE,
            f"`{label}` in `{value}` of server `{name}` is passed on as it is: nothing replaces it",
            at=at,
            help=advice if reference_form else _forms(definition.dialect),
            fix=replaced(at, label, reference_form, advice) if reference_form else None,
        )


def _forms(dialect: Dialect) -> str:
    if not dialect.variable:
        return dialect.secret_advice
    with_default = f" or `{dialect.variable_with_default}`" if dialect.variable_with_default else ""
    return f"a reference is `{dialect.variable}`{with_default}"


def _unexpanded(text: str, references: list[tuple[int, int]]) -> Iterator[tuple[int, int, str, str | None]]:
    """Yield start, end, the text for messages, and the variable's name, of each `$` form outside `references`."""
    for match in _BARE.finditer(text):
        if not _is_inside(match.start(), references):
            yield match.start(), match.end(), match[0], match["name"]
    for match in _BRACED.finditer(text):
        if not _is_inside(match.start(), references):
            yield match.start(), match.end(), match[0] if _SHOWABLE.match(match["inside"]) else "${…}", None


def _is_inside(offset: int, spans: list[tuple[int, int]]) -> bool:
    """Tell whether `offset` lies in one of `spans`, which are sorted and do not overlap."""
    before = bisect.bisect_right(spans, (offset, sys.maxsize))
    return before > 0 and offset < spans[before - 1][1]


def _check_space(definition: Definition, value: Value, sink: DiagnosticSink) -> None:
    text = value.text
    core = text.strip()
    # A value of several lines is a script or a key; a value of only white space is intended.
    if not core or core == text or "\n" in core:
        return
    leading, trailing = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
    where = " and ".join(side for side, count in (("begins", leading), ("ends", trailing)) if count)
    ranges = [at for at in ((0, leading), (len(text) - trailing, len(text))) if at[0] < at[1]]
    places = [attrs.evolve(value.place, within=at) for at in ranges]
    references = find_references(core)
    is_reference = len(references) == 1 and references[0].span == (0, len(core))
    is_safe = value.field in _TRIMMABLE or is_reference
    sink.report(
        SURROUNDING_SPACE,
        f"`{value}` of server `{definition.source.name}` {where} with white space, which is passed on",
        at=places[0] if len(places) == 1 else value.place,
        help="remove it",
        fix=removed(value.place, places, "remove the white space around the value") if is_safe else None,
    )
