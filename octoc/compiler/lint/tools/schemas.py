"""Rules over the `inputSchema` of recorded tools: an object's, sound by its dialect, whole in itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from octoc.compiler.lint.tools.characters import quoted
from octoc.compiler.lint.tools.dialects import dialect_of, mistakes
from octoc.compiler.lint.tools.recorded import Recorded, recorded_tools
from octoc.compiler.lint.tools.references import broken_references
from octoc.compiler.model.build import Build
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules import lint_tools as rules
from octoc.formats.walk import pointer, subschemas
from octoc.plugin.lint import lint_check

_TELL = "tell the server's author, or leave the tool out with `exclude_tools`"


@lint_check(rules.SCHEMA_DIALECT, rules.SCHEMA_NOT_OBJECT, rules.SCHEMA_PATTERN, rules.SCHEMA_REF, rules.SCHEMA_UNSOUND)
def check_schemas(build: Build, sink: DiagnosticSink) -> None:
    """Report each input schema that no model API could be given, or that says less than it seems to."""
    for tool in recorded_tools(build):
        schema = tool.schema
        if not isinstance(schema, Mapping):
            sink.report(rules.SCHEMA_NOT_OBJECT, f"tool `{tool.id}` has no `inputSchema`", at=tool.place, help=_TELL)
            continue
        if _has_object_root(tool, schema, sink):
            _check_dialect(tool, schema, sink)
            _check_references(tool, schema, sink)
            _check_patterns(tool, schema, sink)


def _has_object_root(tool: Recorded, schema: Mapping[str, Any], sink: DiagnosticSink) -> bool:
    kind = schema.get("type")
    if kind == "object":
        return True
    said = "names no `type`" if "type" not in schema else f"is of type `{kind}`"
    sink.report(
        rules.SCHEMA_NOT_OBJECT,
        f'the `inputSchema` of tool `{tool.id}` {said}, expected `"type": "object"`',
        at=tool.place.child("inputSchema", "type"),
        help=_TELL,
    )
    return False


def _check_dialect(tool: Recorded, schema: Mapping[str, Any], sink: DiagnosticSink) -> None:
    place = tool.place.child("inputSchema")
    dialect = dialect_of(schema)
    if dialect is None:
        sink.report(
            rules.SCHEMA_DIALECT,
            f"the `inputSchema` of tool `{tool.id}` is written in a dialect that octoc does not know",
            at=place.child("$schema"),
            help="it is not checked against a dialect; the drafts from 4 to 2020-12 are known",
        )
        return
    for path, message in mistakes(schema, dialect):
        sink.report(
            rules.SCHEMA_UNSOUND,
            f"in the `inputSchema` of tool `{tool.id}`, {message}",
            at=place.child(*path),
            notes=(f"its dialect is {dialect}",),
            help=_TELL,
        )


def _check_references(tool: Recorded, schema: Mapping[str, Any], sink: DiagnosticSink) -> None:
    for path, reference, why in broken_references(schema):
        sink.report(
            rules.SCHEMA_REF,
            f"in the `inputSchema` of tool `{tool.id}`, `{reference}` {why}",
            at=tool.place.child("inputSchema", *path),
            help=_TELL,
        )


def _check_patterns(tool: Recorded, schema: Mapping[str, Any], sink: DiagnosticSink) -> None:
    for path, one in subschemas(schema):
        written = [((*path, "pattern"), one["pattern"])] if "pattern" in one else []
        named = one.get("patternProperties")
        if isinstance(named, dict):
            written += [((*path, "patternProperties", text), text) for text in named]
        for at, text in written:
            why = _why_unreadable(text) if isinstance(text, str) else None
            if why:
                place = tool.place.child("inputSchema", *at)
                sink.report(
                    rules.SCHEMA_PATTERN,
                    f"in the `inputSchema` of tool `{tool.id}`, `{quoted(why[1])}` at `{pointer(at)}` cannot be read",
                    at=place if at[-1] == "pattern" else place.key(),
                    notes=(f"google-re2 says: {why[0]}",),
                    help="only the server can check that argument",
                )


def _why_unreadable(pattern: str) -> tuple[str, str] | None:
    """Return what google-re2 says of an expression that it does not read, and the part that it says it of."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0] if error.args else b""
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        kind, _, part = text.partition(": ")
        return kind, part or pattern
    except UnicodeEncodeError:
        return "half a surrogate pair is no text", pattern
    return None
