"""Rules over inputs, which VS Code asks the user for: undeclared ones, and those of a client that asks for none.

Source: each client's documentation of the references that it replaces in its file (November 2026); none of these asks
for inputs.
"""

from __future__ import annotations

import attrs

from octoc.compiler.inputs.mcp.claude import CLAUDE
from octoc.compiler.inputs.mcp.claude_plugin import PLUGIN
from octoc.compiler.inputs.mcp.cline import CLINE
from octoc.compiler.inputs.mcp.codex import CODEX
from octoc.compiler.inputs.mcp.crush import CRUSH
from octoc.compiler.inputs.mcp.cursor import CURSOR
from octoc.compiler.inputs.mcp.gemini import GEMINI
from octoc.compiler.inputs.mcp.kiro import KIRO
from octoc.compiler.inputs.mcp.opencode import OPENCODE
from octoc.compiler.inputs.mcp.roo import ROO
from octoc.compiler.inputs.mcp.windsurf import WINDSURF
from octoc.compiler.model.build import Build
from octoc.compiler.resolve.definitions import values_of
from octoc.compiler.workspace.paths import WORKSPACE_FILE
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_mcp import UNDECLARED_INPUT, UNEXPANDED_REFERENCE
from octoc.diagnostics.suggest import did_you_mean
from octoc.plugin.lint import lint_check
from octoc.references import find_references

_WITHOUT_INPUTS = (CLAUDE, PLUGIN, CLINE, CODEX, CRUSH, CURSOR, GEMINI, KIRO, OPENCODE, ROO, WINDSURF)
"""Clients whose documentation lists the references that they replace, and no inputs."""


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


@lint_check(UNEXPANDED_REFERENCE)
def check_foreign_inputs(build: Build, sink: DiagnosticSink) -> None:
    """Report `${input:id}` in a file of a client that asks for none; a workspace's octoc replaces it."""
    if (build.discovered.root / WORKSPACE_FILE).is_file():
        return
    for file in build.sources.mcp_files:
        for server in file.servers if file.dialect in _WITHOUT_INPUTS else ():
            for value in values_of(server) if not server.disabled else ():
                for reference in find_references(value.text):
                    if reference.kind == "input" and value.text[reference.span[0]] == "$":
                        written = value.text[slice(*reference.span)]
                        sink.report(
                            UNEXPANDED_REFERENCE,
                            f"`{written}` in `{value}` of server `{server.name}` is passed on as it is: "
                            "only VS Code asks for inputs",
                            at=attrs.evolve(value.place, within=reference.span),
                            help=file.dialect.secret_advice
                            or f"write a reference to a variable, as in `{file.dialect.variable}`",
                        )
