"""Rules over the texts of a server's definition: what is never replaced, and white space around."""

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

# Capitals alone: `$x` and `$schema` are what programs and queries are written in. Behind other text than these marks a
# `$` is rather part of a password, of which no message may show a piece.
_BARE = re.compile(r"""(?:(?<=[\s/:=,@"'])|\A)\$(?P<name>[A-Z_][A-Z0-9_]{1,99})(?![A-Za-z0-9_(])""")
_BRACED = re.compile(r"\$\{(?P<inside>[^{}]*)\}")
_SHOWABLE = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,60}\Z")
_MAX_OF_ONE_VALUE = 20
"""Findings about one text, at most: each looks at all of it."""
# Where white space around a value never means anything. In `args` and `env` it may: a separator, a prompt.
_TRIMMABLE = frozenset({"command", "cwd", "envFile", "url", "headers"})


@lint_check(NESTED_REFERENCE, SURROUNDING_SPACE, UNEXPANDED_REFERENCE)
def check_values(build: Build, sink: DiagnosticSink) -> None:
    """Report references that stay text, and values with white space around them."""
    for definition in definitions(build.sources):
        if definition.source.disabled:
            continue
        for value in values_of(definition.source):
            _check_space(definition, value, sink)
            if "$" in value.text and not (value.field == "args" and has_shell(definition.source)):
                _check_references(definition, value, sink)


def _check_references(definition: Definition, value: Value, sink: DiagnosticSink) -> None:
    text, name = value.text, definition.source.name
    found = find_references(text)
    nested = (one for one in found if one.default is not None and "${" in one.default)
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
    for start, end, shown, variable in islice(_unexpanded(text, [one.span for one in found]), _MAX_OF_ONE_VALUE):
        # What is left of a secret without its `$VAR` is still one: OCT340 tells of it, and nothing of it is shown here.
        if is_literal_secret(value.name, text[:start] + text[end:]):
            continue
        at = attrs.evolve(value.place, within=(start, end))
        written = definition.dialect.variable_named(variable) if variable else ""
        sink.report(
            UNEXPANDED_REFERENCE,
            f"`{shown}` in `{value}` of server `{name}` is passed on as it is: nothing replaces it",
            at=at,
            help=f"write `{written}`" if written else _forms(definition.dialect),
            fix=replaced(at, shown, written, f"write `{written}`") if written else None,
        )


def _forms(dialect: Dialect) -> str:
    with_default = f" or `{dialect.variable_with_default}`" if dialect.variable_with_default else ""
    return f"a reference is `{dialect.variable}`{with_default}"


def _unexpanded(text: str, known: list[tuple[int, int]]) -> Iterator[tuple[int, int, str, str | None]]:
    """Yield start, end, what to call it, and the variable where one is meant."""
    for match in _BARE.finditer(text):
        if not _is_inside(match.start(), known):
            yield match.start(), match.end(), match[0], match["name"]
    for match in _BRACED.finditer(text):
        if not _is_inside(match.start(), known):
            yield match.start(), match.end(), match[0] if _SHOWABLE.match(match["inside"]) else "${…}", None


def _is_inside(offset: int, spans: list[tuple[int, int]]) -> bool:
    """Tell whether `offset` lies in one of `spans`, which are in order and apart."""
    before = bisect.bisect_right(spans, (offset, sys.maxsize))
    return before > 0 and offset < spans[before - 1][1]


def _check_space(definition: Definition, value: Value, sink: DiagnosticSink) -> None:
    text = value.text
    core = text.strip()
    # A value of several lines is a script or a key; one of white space alone is meant.
    if not core or core == text or "\n" in core:
        return
    leading, trailing = len(text) - len(text.lstrip()), len(text) - len(text.rstrip())
    where = " and ".join(side for side, count in (("begins", leading), ("ends", trailing)) if count)
    ranges = [at for at in ((0, leading), (len(text) - trailing, len(text))) if at[0] < at[1]]
    places = [attrs.evolve(value.place, within=at) for at in ranges]
    lone = find_references(core)
    is_reference = len(lone) == 1 and lone[0].span == (0, len(core))
    safe = value.field in _TRIMMABLE or is_reference
    sink.report(
        SURROUNDING_SPACE,
        f"`{value}` of server `{definition.source.name}` {where} with white space, which is passed on",
        at=places[0] if len(places) == 1 else value.place,
        help="remove it",
        fix=removed(value.place, places, "remove the white space around the value") if safe else None,
    )
