"""A rule over the inputs that a file such as VS Code's declares."""

from __future__ import annotations

import attrs

from octoc.compiler.model.build import Build
from octoc.compiler.resolve.definitions import values_of
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_mcp import UNDECLARED_INPUT
from octoc.diagnostics.suggest import did_you_mean
from octoc.plugin.lint import lint_check
from octoc.references import find_references


@lint_check(UNDECLARED_INPUT)
def check_inputs(build: Build, sink: DiagnosticSink) -> None:
    """Report `${input:id}` whose id the file's `inputs` do not declare: the client does not ask the user for it."""
    for file in build.sources.mcp_files:
        if not file.dialect.declares_inputs:
            continue
        for server in file.servers:
            for value in values_of(server):
                for reference in find_references(value.text):
                    if reference.kind == "input" and reference.name not in file.inputs:
                        sink.report(
                            UNDECLARED_INPUT,
                            f"`{value}` of server `{server.name}` refers to input `{reference.name}`, "
                            "which the file does not declare",
                            at=attrs.evolve(value.place, within=reference.span),
                            help=did_you_mean(reference.name, file.inputs)
                            or f'add `{{"type": "promptString", "id": "{reference.name}"}}` to `inputs`',
                        )
