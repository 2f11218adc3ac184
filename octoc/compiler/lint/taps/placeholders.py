"""Rules over placeholders: those that Octomind resolves in prose, and those that its environment gate does not see."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octoc.compiler.lint.taps.lookup import all_providers
from octoc.compiler.model.build import Build
from octoc.compiler.model.source import AgentSource, ServerSource
from octoc.diagnostics.model import DiagnosticSink, Place, Span
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.lint_taps import LIVE_PLACEHOLDER, UNGATED_PLACEHOLDER, VARYING_PROMPT
from octoc.plugin.lint import lint_check
from octoc.references import VARIABLE_KINDS, Reference, find_references

VARYING = ("CWD", "DATE", "TIME", "GIT_STATUS", "GIT_TREE", "README", "SYSTEM", "SHELL", "OS", "USER", "CONTEXT")
"""Placeholders that Octomind replaces in prompts by values of the run, the machine or the user."""

# Octomind resolves placeholders in code too. Code only shows that a text mentions a placeholder without using it.
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`|^(?: {4}|\t).*$|^\|.*\|[ \t]*$", re.MULTILINE)
_VARYING = re.compile(rf"(?<!\{{\{{)\{{\{{({'|'.join(VARYING)})\}}\}}(?!\}}\}})")


@lint_check(LIVE_PLACEHOLDER)
def check_prose(build: Build, sink: DiagnosticSink) -> None:
    """Report each `{{ENV:…}}` and `{{INPUT:…}}` in a manifest's prompts and in comments of a tap's TOML files."""
    for agent in _manifests(build):
        role = agent.place.child("roles", 0)
        for key, text in (("system", agent.prompt), ("welcome", agent.welcome)):
            live = _live(text)
            mentions = _code_ranges(text) if live else ()
            for reference in live:
                is_mention = any(start <= reference.span[0] < end for start, end in mentions)
                at = Place(file=role.file, path=(*role.path, key), within=reference.span)
                _report_live(reference, f"the `{key}` of agent `{agent.name}`", at, sink, is_mention=is_mention)
    for comments in build.sources.comments.values():
        for comment in comments:
            for reference in _live(comment.text):
                start, end = (comment.span.column + offset for offset in reference.span)
                line = comment.span.line
                at_comment = Span(file=comment.span.file, line=line, column=start, end_line=line, end_column=end)
                _report_live(reference, "a comment", at_comment, sink, is_mention=True)


@lint_check(UNGATED_PLACEHOLDER)
def check_gate(build: Build, sink: DiagnosticSink) -> None:
    """Report the variables that a tap's server takes only by `args` or `url`."""
    servers: list[ServerSource] = [s for _, provider in all_providers(build) for s in provider.servers]
    servers.extend(server for agent in _manifests(build) for server in agent.inline_servers)
    for server in servers:
        gated = {
            reference.name
            for value in (*server.env.values(), *server.headers.values())
            for reference in find_references(value)
        }
        for key, index, text in _ungated(server):
            for reference in find_references(text):
                if not reference.needs_value or reference.kind not in VARIABLE_KINDS or reference.name in gated:
                    continue
                at = server.place.child(key) if index is None else server.place.child(key, index)
                sink.report(
                    UNGATED_PLACEHOLDER,
                    f"server `{server.name}` takes `{reference.name}` only by `{key}`, where Octomind does not look "
                    "for what a capability needs",
                    at=Place(file=at.file, path=at.path, within=reference.span),
                    notes=("octoc lists it as a requirement of the capability, and fills it in",),
                    help=_by_env(server, reference),
                )


@lint_check(VARYING_PROMPT)
def check_varying(build: Build, sink: DiagnosticSink) -> None:
    """Report a `system` prompt that contains a value of the run, once for each value."""
    for agent in _manifests(build):
        if not any(f"{{{{{name}}}}}" in agent.prompt for name in VARYING):
            continue
        spans_of: dict[str, list[tuple[int, int]]] = {}
        for match in _VARYING.finditer(agent.prompt):
            spans_of.setdefault(match[1], []).append(match.span())
        for name, spans in spans_of.items():
            path = (*agent.place.path, "roles", 0, "system")
            times = "" if len(spans) == 1 else f", {len(spans)} times"
            sink.report(
                VARYING_PROMPT,
                f"the `system` of agent `{agent.name}` contains `{{{{{name}}}}}`{times}: its value differs in each run",
                at=Place(file=agent.place.file, path=path, within=spans[0]),
                notes=("a prompt that changes is never read from the provider's cache",),
                help=f"move it to `welcome`, or write `{{{{{{{{{name}}}}}}}}}` where the text only mentions it",
            )


def _manifests(build: Build) -> Iterator[AgentSource]:
    return (agent for agent in build.sources.agents if agent.kind == "octomind")


def _live(text: str) -> tuple[Reference, ...]:
    """Return the references in Octomind's own forms: `${VAR}` in prose is plain text."""
    if "{{ENV:" not in text and "{{INPUT:" not in text:  # as in most prompts, which saves a regular expression
        return ()
    return tuple(reference for reference in find_references(text) if text.startswith("{{", reference.span[0]))


def _code_ranges(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for pattern in (_FENCE, _CODE) for match in pattern.finditer(text))


def _report_live(ref: Reference, where: str, at: Place | Span, sink: DiagnosticSink, *, is_mention: bool) -> None:
    form = f"{{{{{'ENV' if ref.kind == 'env' else 'INPUT'}:{ref.name}}}}}"
    if is_mention:
        sink.report(
            LIVE_PLACEHOLDER,
            f"{where} mentions `{form}`, and Octomind resolves it: it asks for `{ref.name}` and writes it to disk",
            at=at,
            help=f"write `{{{{{form}}}}}`, which stands for the text itself",
        )
    else:
        sink.report(
            LIVE_PLACEHOLDER,
            f"{where} contains `{form}`: Octomind asks the user for `{ref.name}`, and octoc does not replace it",
            at=at,
            severity=Severity.WARNING,
            help="let the agent ask, or find the value with a tool",
        )


def _ungated(server: ServerSource) -> Iterator[tuple[str, int | None, str]]:
    yield from (("args", index, text) for index, text in enumerate(server.args))
    if server.url is not None:
        yield "url", None, server.url


def _by_env(server: ServerSource, reference: Reference) -> str:
    if server.url is not None:
        return "pass it by a header, if the server takes one"
    placeholder = f'{reference.name} = "{{{{ENV:{reference.name}}}}}"'
    return f"if the server reads it from its environment, write `env = {{ {placeholder} }}`"
