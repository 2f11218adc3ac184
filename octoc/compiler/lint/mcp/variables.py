"""A rule over references to a variable that the same definition sets: clients do not read it from there."""

from __future__ import annotations

import attrs

from octoc.compiler.lint.mcp.commands import has_shell, texts_of
from octoc.compiler.model.build import Build
from octoc.compiler.resolve.definitions import Definition, definitions, values_of, written_name
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_servers import OUTER_VARIABLE
from octoc.plugin.lint import lint_check
from octoc.references import find_references

_SEPARATORS = frozenset(":; ,$")
"""What separates the elements of a variable that is a list, which a value may extend; `$` begins another form."""


@lint_check(OUTER_VARIABLE)
def check_variables(build: Build, sink: DiagnosticSink) -> None:
    """Report a reference without default to a variable that `env` of the server sets to another value.

    Clients and octoc replace references by their own environment before `env` is set, so a chain or a circle of
    variables never gets its values. `"TOKEN": "${TOKEN}"` passes a variable on.
    """
    for definition in definitions(build.sources):
        server = definition.source
        if server.disabled:
            continue
        for variable, text in server.env.items():
            _check_own(definition, variable, text, sink)
        own = {name: value for name, value in server.env.items() if not _passes_on(name, value)}
        is_possible = any(f"{name}}}" in text for text in texts_of(server) for name in own)
        for value in values_of(server) if is_possible else ():
            # A shell, and this bridge, replace such references themselves, from the environment that `env` makes.
            if value.field == "args" and (has_shell(server) or any("mcp-remote" in arg for arg in server.args)):
                continue
            for reference in find_references(value.text):
                name = reference.name
                if reference.kind != "env" or reference.default is not None or name not in own:
                    continue
                sink.report(
                    OUTER_VARIABLE,
                    f"`{value}` of server `{server.name}` refers to `{name}`, and does not get the value of `env`",
                    at=attrs.evolve(value.place, within=reference.span),
                    related={"that value is here": server.place.child("env", name)},
                    notes=(f"{definition.dialect.client} reads references from its own environment",),
                    help=f"write the value itself, or set `{name}` outside the file",
                )


def _check_own(definition: Definition, name: str, value: str, sink: DiagnosticSink) -> None:
    """Report a variable that is made of itself and more, unless it is a list: such a value grows a search path."""
    server = definition.source
    text = value.strip()
    match = next((one for one in find_references(text) if one.kind == "env" and one.name == name), None)
    if match is None or match.default is not None or match.span == (0, len(text)):
        return
    if not _SEPARATORS.isdisjoint({text[match.span[1] :][:1], text[: match.span[0]][-1:]}):
        return
    written = written_name(server, "env", name) or f"env.{name}"
    sink.report(
        OUTER_VARIABLE,
        f"`{written}` of server `{server.name}` is made of `{name}` itself, which must be set outside the file",
        at=server.place.child("env", name),
        notes=(f"{definition.dialect.client} reads references from its own environment",),
        help=f"set `{name}` outside the file, or take the value from a variable of another name",
        severity=Severity.INFO,
    )


def _passes_on(name: str, value: str) -> bool:
    return f"{name}}}" in value and any(
        reference.kind == "env" and reference.name == name for reference in find_references(value)
    )
