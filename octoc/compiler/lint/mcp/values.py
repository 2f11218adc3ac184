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
from octoc.compiler.lint.mcp.headers import is_empty
from octoc.compiler.model.build import Build
from octoc.compiler.model.source import ServerSource
from octoc.compiler.resolve.definitions import Definition, DefinitionText, definitions, values_of
from octoc.credentials import is_literal_secret
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_mcp import NESTED_REFERENCE, SURROUNDING_SPACE, UNEXPANDED_REFERENCE
from octoc.plugin.file_kinds import Dialect
from octoc.plugin.lint import lint_check
from octoc.references import find_references

# Only capitals: programs and queries contain `$x` and `$schema`. After a character other than these marks, a `$` is
# likely part of a password, and no message may show a part of one.
_BARE = re.compile(r"""(?:(?<=[\s/:=,@"'])|\A)\$(?P<name>[A-Z_][A-Z0-9_]{1,99})(?![A-Za-z0-9_(])""")
# Several names and nothing else are a list of another program's names, such as SAP's packages.
_NAMES = re.compile(r"\$\w+(?:\s*,\s*\$?[\w*]+)+")
_OF_OPENCODE = re.compile(r"(?<!\$)\{env:(?P<name>[A-Za-z_]\w*)\}")
_BRACED = re.compile(r"\$\{(?P<inside>[^{}]*)\}")
# A variable in another program's form: `env.NAME`, `secrets.NAME`, `NAME:?message`. `workspaceFolder` does not match.
_VARIABLE = re.compile(r"(?:(?:env|secrets|vars)[.:])?(?P<name>[A-Z_][A-Z0-9_]{1,99})(?::?[?+=][^{}]*)?")
# Text in other marks is a pattern or code, as for `_BARE`.
_COMMAND = re.compile(r"""(?:(?<=[\s/:=,@"'])|\A)\$\((?=[A-Za-z./])(?P<inside>[^()]*)\)?""")
_OPENINGS = ("${env:", "${input:", "${", "{{ENV:", "{{INPUT:")
# One brace does not close two.
_HALF_CLOSED = re.compile(r"(?P<opening>\{\{(?:ENV|INPUT):)\w+(?=\}(?!\}))")
_NAME = re.compile(r"[A-Za-z_]\w{0,99}")
_INPUT = re.compile(r"\w[\w.-]{0,99}")
_CODE_FLAGS = frozenset({"-c", "-e", "-p", "--eval", "--print", "/c", "-Command"})
_SHOWABLE = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,60}\Z")
_MAX_OF_ONE_VALUE = 20
"""Maximum number of findings in one text: each finding scans the whole text."""
# Fields whose surrounding white space never has a meaning. In `args` and `env` it can be a separator or a prompt.
_TRIMMABLE = frozenset({"command", "cwd", "envFile", "url", "headers"})
_PATH_ADVICE = "write a path relative to the project, or the whole path"
_STARTED = frozenset({"command", "cwd", "envFile"})
"""Fields that the client opens itself. A program may replace a `~` in `env`, and often does in `args`."""


@lint_check(NESTED_REFERENCE, SURROUNDING_SPACE, UNEXPANDED_REFERENCE)
def check_values(build: Build, sink: DiagnosticSink) -> None:
    """Report references that nothing replaces, and values with surrounding white space."""
    for definition in definitions(build.sources):
        if definition.source.disabled:
            continue
        for value in values_of(definition.source):
            _check_space(definition, value, sink)
            if value.text.startswith("~/") and (value.field in _STARTED or value.field == "env"):
                _report_tilde(definition, value, sink)
            if ("$" in value.text or "{" in value.text) and not _is_code(definition.source, value):
                _check_references(definition, value, sink)


def _is_code(server: ServerSource, value: DefinitionText) -> bool:
    """Tell whether a shell or an interpreter reads the text."""
    if value.index is None:
        return False
    return has_shell(server) or (value.index > 0 and server.args[value.index - 1] in _CODE_FLAGS)


def _check_references(definition: Definition, value: DefinitionText, sink: DiagnosticSink) -> None:
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
    for found in islice(_unexpanded(text, spans, definition.dialect), _MAX_OF_ONE_VALUE):
        # A text that is a secret even without `$VAR` must not be shown; OCT340 reports it.
        rest = text[: found.start] + text[found.end :]
        if rest.strip("{}") and is_literal_secret(value.name, rest):
            continue
        at = attrs.evolve(value.place, within=(found.start, found.end))
        form = _form(definition.dialect, found.variable, value.field) if found.variable else ""
        advice = found.help or (f"write `{form}`" if form else _forms(definition.dialect, value.field))
        sink.report(
            UNEXPANDED_REFERENCE,
            f"`{found.label}` in `{value}` of server `{name}` {found.problem}",
            at=at,
            help=advice,
            fix=replaced(at, found.label, form, advice) if form and found.can_fix else None,
            # The path does not say whose file it is, and its reader may replace references.
            severity=Severity.INFO if definition.dialect.needs_content else None,
        )


def _report_tilde(definition: Definition, value: DefinitionText, sink: DiagnosticSink) -> None:
    form = _form(definition.dialect, "HOME", value.field)
    sink.report(
        UNEXPANDED_REFERENCE,
        f"`~` in `{value}` of server `{definition.source.name}` is passed on as it is: only a shell replaces it",
        at=attrs.evolve(value.place, within=(0, 1)),
        help=f"write `{form}`" if form else _PATH_ADVICE,
        severity=None if value.field in _STARTED else Severity.INFO,
    )


def _form(dialect: Dialect, variable: str, field: str) -> str:
    """Return how a client's file refers to a variable; empty where its references are secrets, and none belongs."""
    return "" if _has_secrets_alone(dialect) and field in _STARTED else dialect.variable_named(variable)


def _has_secrets_alone(dialect: Dialect) -> bool:
    return "secrets." in dialect.variable


def _forms(dialect: Dialect, field: str) -> str:
    if _has_secrets_alone(dialect) and field in _STARTED:
        return _PATH_ADVICE
    if not dialect.variable:
        return dialect.secret_advice
    with_default = f" or `{dialect.variable_with_default}`" if dialect.variable_with_default else ""
    return f"a reference is `{dialect.variable}`{with_default}"


@attrs.frozen(kw_only=True)
class _Unexpanded:
    """A form outside references. `label` is its text in messages; `variable` is the variable that it names."""

    start: int
    end: int
    label: str
    variable: str | None = None
    problem: str = "is passed on as it is: nothing replaces it"
    help: str = ""
    can_fix: bool = True


def _unexpanded(text: str, references: list[tuple[int, int]], dialect: Dialect) -> Iterator[_Unexpanded]:
    for match in _BARE.finditer(text) if _NAMES.fullmatch(text) is None else ():
        if not _is_inside(match.start(), references):
            yield _Unexpanded(start=match.start(), end=match.end(), label=match[0], variable=match["name"])
    for match in _BRACED.finditer(text):
        if not (_is_inside(match.start(), references) or _is_own(match[0], dialect)):
            label = match[0] if _SHOWABLE.match(match["inside"]) else "${…}"
            name = _VARIABLE.fullmatch(match["inside"])
            variable = name["name"] if name is not None else None
            yield _Unexpanded(start=match.start(), end=match.end(), label=label, variable=variable, can_fix=False)
    for match in _COMMAND.finditer(text):
        if _is_own(match[0], dialect):
            continue
        label = match[0] if _SHOWABLE.match(match["inside"]) else "$(…)"
        yield _Unexpanded(
            start=match.start(),
            end=match.end(),
            label=label,
            problem="is passed on as it is: no shell runs it",
            help="write the value, or start the server by a script that finds it",
        )
    for match in _OF_OPENCODE.finditer(text) if not dialect.variable.startswith("{env:") else ():
        yield _Unexpanded(
            start=match.start(),
            end=match.end(),
            label=match[0],
            variable=match["name"],
            problem="is passed on as it is: this is OpenCode's form",
        )
    for start, opening in _unclosed(text, dialect):
        if not _is_inside(start, references):
            is_input = "input" in opening.lower()
            name = (_INPUT if is_input else _NAME).match(text, start + len(opening))
            end = start + len(opening) if name is None else name.end()
            yield _Unexpanded(
                start=start,
                end=end,
                label=text[start:end],
                variable=name[0] if name is not None and not is_input else None,
                problem="has no closing brace, and is passed on as it is",
                can_fix=end == len(text),
            )


def _is_own(written: str, dialect: Dialect) -> bool:
    return bool(dialect.own_references) and re.fullmatch(dialect.own_references, written) is not None


def _unclosed(text: str, dialect: Dialect) -> list[tuple[int, str]]:
    """Return start and opening of each reference that no brace closes."""
    own = dialect.variable.partition("NAME")[0]
    openings = sorted({*_OPENINGS, *([own] if own else [])}, key=len, reverse=True)
    stack: list[tuple[int, str]] = []
    for match in re.finditer("|".join(map(re.escape, (*openings, "}"))), text):
        if match[0] != "}":
            stack.append((match.start(), match[0]))
        elif stack:
            stack.pop()
    half_closed = [(match.start(), match["opening"]) for match in _HALF_CLOSED.finditer(text)]
    return sorted({*stack, *half_closed})


def _is_inside(offset: int, spans: list[tuple[int, int]]) -> bool:
    """Tell whether `offset` lies in one of `spans`, which are sorted and do not overlap."""
    before = bisect.bisect_right(spans, (offset, sys.maxsize))
    return before > 0 and offset < spans[before - 1][1]


def _check_space(definition: Definition, value: DefinitionText, sink: DiagnosticSink) -> None:
    text = value.text
    core = text.strip()
    # A value of several lines is a script or a key; a value of only white space is intended. OCT207 has empty headers.
    if not core or core == text or "\n" in core or (value.field == "headers" and is_empty(value.name, core)):
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
