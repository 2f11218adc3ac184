"""A rule over the values that Claude Code asks a plugin's user for, and what names them.

Source: Claude Code, plugins reference (2.1.240): `${user_config.NAME}` is replaced in servers, in hooks, and in the
text of skills and agents.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from octoc.compiler.inputs.claude.plugin import OPTION_VARIABLE, PLUGIN_FILE
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Document
from octoc.compiler.read.values import texts_in
from octoc.diagnostics.model import DiagnosticSink, Place, Span
from octoc.diagnostics.rules.lint_mcp import UNEXPANDED_REFERENCE
from octoc.diagnostics.suggest import near_misses, slips_of
from octoc.lists import one_of
from octoc.plugin.lint import lint_check

# Definitions of servers have references as octoc reads them.
_OPTION = re.compile(rf"\$\{{(?:user_config\.|{OPTION_VARIABLE})(?P<name>\w+)\}}")


@lint_check(UNEXPANDED_REFERENCE)
def check_options(build: Build, sink: DiagnosticSink) -> None:
    """Report references to values of the user that the plugin's manifest does not ask for.

    In a text for a model only a slip of one is reported: it may be about plugins.
    """
    documents = build.checked.documents
    for manifest in documents:
        options = manifest.values.get("userConfig") if manifest.file.path.match(PLUGIN_FILE) else None
        if not isinstance(options, Mapping):
            continue
        folder = manifest.file.path.parent.parent
        for document in documents:
            # A manifest with servers is read a second time, for these.
            is_again = document.file.path == manifest.file.path and document is not manifest
            if folder in document.file.path.parents and not is_again:
                _check_document(document, options, sink)


def _check_document(document: Document, options: Mapping[str, Any], sink: DiagnosticSink) -> None:
    for name, place in _references(document):
        near = _near(name, options)
        if name not in options and (near or isinstance(place, Place)):
            sink.report(
                UNEXPANDED_REFERENCE,
                f"`${{user_config.{name}}}` names no option of `userConfig`",
                at=place,
                help=f"did you mean {one_of(near)}?" if near else f"add `{name}` to `userConfig`",
            )


def _references(document: Document) -> Iterator[tuple[str, Place | Span]]:
    """Yield the name in each reference, and its place; the text after front matter has lines and columns."""
    for path, text in texts_in(document.values):
        for match in _OPTION.finditer(text):
            yield match["name"], document.place(*path)
    for number, line in enumerate(document.body.split("\n"), start=document.body_line):
        for match in _OPTION.finditer(line):
            start, end = match.start() + 1, match.end() + 1
            span = Span(file=document.file.display, line=number, column=start, end_line=number, end_column=end)
            yield match["name"], span


def _near(name: str, options: Collection[str]) -> tuple[str, ...]:
    return slips_of(name, options) or near_misses(name, options)
