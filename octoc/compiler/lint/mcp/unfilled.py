"""Rule over placeholders in definitions of servers: values to replace before the server works."""

from __future__ import annotations

from octoc.compiler.lint.mcp.commands import has_shell
from octoc.compiler.model.build import Build
from octoc.compiler.resolve.definitions import DefinitionText, definitions, values_of
from octoc.credentials import is_secret_name
from octoc.credentials.placeholders import is_placeholder, needs_filling
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import PLACEHOLDER_VALUE
from octoc.lists import some_names
from octoc.plugin.lint import lint_check

_MOST_PLACES = 20


@lint_check(PLACEHOLDER_VALUE)
def check_placeholders(build: Build, sink: DiagnosticSink) -> None:
    """Report the placeholders of each file in one finding."""
    by_file: dict[str, list[tuple[str, DefinitionText]]] = {}
    for definition in definitions(build.sources):
        source = definition.source
        if source.disabled:
            continue
        for value in values_of(source):
            is_one = needs_filling(value.text) or (is_secret_name(value.name) and is_placeholder(value.text))
            if is_one and not (value.field == "args" and has_shell(source)):
                by_file.setdefault(value.place.file, []).append((f"{source.name}.{value}", value))
    for found in by_file.values():
        (_, first), *others = found
        names = some_names([name for name, _ in found], 8)
        sink.report(
            PLACEHOLDER_VALUE,
            f"{'these values are placeholders' if others else 'this value is a placeholder'}: {names}",
            at=first.place,
            related={name: value.place for name, value in others[:_MOST_PLACES]},
            help="replace it, or write a reference to a variable, so that the file needs no edit",
        )
