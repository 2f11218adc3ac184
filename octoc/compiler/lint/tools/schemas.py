"""Rules over the `inputSchema` of recorded tools: type, dialect, references and patterns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.lint.tools.characters import quoted
from octoc.compiler.lint.tools.dialects import dialect_of, mistakes
from octoc.compiler.lint.tools.recorded import RecordedTool, recorded_tools
from octoc.compiler.lint.tools.references import broken_references
from octoc.compiler.model.build import Build
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules import lint_tools as rules
from octoc.formats.walk import pointer, subschemas
from octoc.linear_regex import RegexError, compile_regex
from octoc.plugin.lint import lint_check

_HELP = "tell the server's author, or leave the tool out with `exclude_tools`"


@lint_check(rules.SCHEMA_DIALECT, rules.SCHEMA_NOT_OBJECT, rules.SCHEMA_PATTERN, rules.SCHEMA_REF, rules.SCHEMA_UNSOUND)
def check_schemas(build: Build, sink: DiagnosticSink) -> None:
    """Report each input schema that model APIs refuse, or that octoc can check only in part."""
    for tool in recorded_tools(build):
        schema = tool.schema
        if not isinstance(schema, Mapping):
            sink.report(rules.SCHEMA_NOT_OBJECT, f"tool `{tool.id}` has no `inputSchema`", at=tool.place, help=_HELP)
            continue
        if _has_object_root(tool, schema, sink):
            _check_dialect(tool, schema, sink)
            _check_references(tool, schema, sink)
            _check_patterns(tool, schema, sink)


def _has_object_root(tool: RecordedTool, schema: Mapping[str, Any], sink: DiagnosticSink) -> bool:
    kind = schema.get("type")
    if kind == "object":
        return True
    problem = "has no `type`" if "type" not in schema else f"is of type `{kind}`"
    sink.report(
        rules.SCHEMA_NOT_OBJECT,
        f'the `inputSchema` of tool `{tool.id}` {problem}, expected `"type": "object"`',
        at=tool.place.child("inputSchema", "type"),
        help=_HELP,
    )
    return False


def _check_dialect(tool: RecordedTool, schema: Mapping[str, Any], sink: DiagnosticSink) -> None:
    place = tool.place.child("inputSchema")
    dialect = dialect_of(schema)
    if dialect is None:
        sink.report(
            rules.SCHEMA_DIALECT,
            f"the `inputSchema` of tool `{tool.id}` names an unknown dialect",
            at=place.child("$schema"),
            help="octoc knows the drafts from 4 to 2020-12, and does not check this schema",
        )
        return
    for path, message in mistakes(schema, dialect):
        sink.report(
            rules.SCHEMA_UNSOUND,
            f"in the `inputSchema` of tool `{tool.id}`, {message}",
            at=place.child(*path),
            notes=(f"its dialect is {dialect}",),
            help=_HELP,
        )


def _check_references(tool: RecordedTool, schema: Mapping[str, Any], sink: DiagnosticSink) -> None:
    for path, reference, why in broken_references(schema):
        sink.report(
            rules.SCHEMA_REF,
            f"in the `inputSchema` of tool `{tool.id}`, `{reference}` {why}",
            at=tool.place.child("inputSchema", *path),
            help=_HELP,
        )


def _check_patterns(tool: RecordedTool, schema: Mapping[str, Any], sink: DiagnosticSink) -> None:
    for path, one in subschemas(schema):
        patterns = [((*path, "pattern"), one["pattern"])] if "pattern" in one else []
        by_pattern = one.get("patternProperties")
        if isinstance(by_pattern, dict):
            patterns += [((*path, "patternProperties", text), text) for text in by_pattern]
        for at, text in patterns:
            error = _pattern_error(text) if isinstance(text, str) else None
            if error:
                reason, part = error
                place = tool.place.child("inputSchema", *at)
                sink.report(
                    rules.SCHEMA_PATTERN,
                    f"in the `inputSchema` of tool `{tool.id}`, `{quoted(part)}` at `{pointer(at)}` cannot be read",
                    at=place if at[-1] == "pattern" else place.key(),
                    notes=(f"google-re2 reports: {reason}",),
                    help="only the server can check that argument",
                )


def _pattern_error(pattern: str) -> tuple[str, str] | None:
    """Return google-re2's error for a pattern, and the part that it names; None for a valid pattern."""
    try:
        compile_regex(pattern)
    except RegexError as error:
        kind, _, part = str(error).partition(": ")
        return kind, part or pattern
    return None
