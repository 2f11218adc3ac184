"""Rules over placeholders: what Octomind would resolve in prose, and what its environment gate does not see."""

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
"""What Octomind puts into prompts from the run, the machine or the user."""

# Octomind has no escape in a code block: these only tell text that speaks of a placeholder from text that uses one.
_FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`|^(?: {4}|\t).*$|^\|.*\|[ \t]*$", re.MULTILINE)
_VARYING = re.compile(rf"(?<!\{{\{{)\{{\{{({'|'.join(VARYING)})\}}\}}(?!\}}\}})")


@lint_check(LIVE_PLACEHOLDER)
def check_prose(build: Build, sink: DiagnosticSink) -> None:
    """Report each `{{ENV:…}}` and `{{INPUT:…}}` in a prompt of a manifest and in a comment of a tap's TOML file."""
    for agent in _manifests(build):
        role = agent.place.child("roles", 0)
        for key, text in (("system", agent.prompt), ("welcome", agent.welcome)):
            live = _live(text)
            mentions = _code_ranges(text) if live else ()
            for found in live:
                is_mention = any(start <= found.span[0] < end for start, end in mentions)
                at = Place(file=role.file, path=(*role.path, key), within=found.span)
                _report_live(found, f"the `{key}` of agent `{agent.name}`", at, sink, is_mention=is_mention)
    for comments in build.sources.comments.values():
        for comment in comments:
            for found in _live(comment.text):
                start, end = (comment.span.column + offset for offset in found.span)
                line = comment.span.line
                at_comment = Span(file=comment.span.file, line=line, column=start, end_line=line, end_column=end)
                _report_live(found, "a comment", at_comment, sink, is_mention=True)


@lint_check(UNGATED_PLACEHOLDER)
def check_gate(build: Build, sink: DiagnosticSink) -> None:
    """Report the variables that a tap's server takes by `args` or `url` alone."""
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
                    f"server `{server.name}` takes `{reference.name}` by `{key}` alone, where Octomind does not look "
                    "for what a capability needs",
                    at=Place(file=at.file, path=at.path, within=reference.span),
                    notes=("octoc counts it among what the capability requires, and fills it in",),
                    help=_by_env(server, reference),
                )


@lint_check(VARYING_PROMPT)
def check_varying(build: Build, sink: DiagnosticSink) -> None:
    """Report a `system` prompt that holds a value of the run, once for each value."""
    for agent in _manifests(build):
        if not any(f"{{{{{name}}}}}" in agent.prompt for name in VARYING):
            continue
        found: dict[str, list[tuple[int, int]]] = {}
        for match in _VARYING.finditer(agent.prompt):
            found.setdefault(match[1], []).append(match.span())
        for name, spans in found.items():
            path = (*agent.place.path, "roles", 0, "system")
            times = "" if len(spans) == 1 else f", {len(spans)} times"
            sink.report(
                VARYING_PROMPT,
                f"the `system` of agent `{agent.name}` holds `{{{{{name}}}}}`{times}: each run has another",
                at=Place(file=agent.place.file, path=path, within=spans[0]),
                notes=("a prompt that changes is never read from the provider's cache",),
                help=f"move it to `welcome`, or write `{{{{{{{{{name}}}}}}}}}` where the text is only about it",
            )


def _manifests(build: Build) -> Iterator[AgentSource]:
    return (agent for agent in build.sources.agents if agent.kind == "octomind")


def _live(text: str) -> tuple[Reference, ...]:
    """Return Octomind's own forms alone: `${VAR}` in prose is text."""
    if "{{ENV:" not in text and "{{INPUT:" not in text:  # most prompts: not worth a regular expression
        return ()
    return tuple(found for found in find_references(text) if text.startswith("{{", found.span[0]))


def _code_ranges(text: str) -> tuple[tuple[int, int], ...]:
    return tuple(match.span() for pattern in (_FENCE, _CODE) for match in pattern.finditer(text))


def _report_live(found: Reference, where: str, at: Place | Span, sink: DiagnosticSink, *, is_mention: bool) -> None:
    form = f"{{{{{'ENV' if found.kind == 'env' else 'INPUT'}:{found.name}}}}}"
    if is_mention:
        sink.report(
            LIVE_PLACEHOLDER,
            f"{where} speaks of `{form}`, and Octomind resolves it: it asks for `{found.name}` and writes it to disk",
            at=at,
            help=f"write `{{{{{form}}}}}`, which stands for the text itself",
        )
    else:
        sink.report(
            LIVE_PLACEHOLDER,
            f"{where} holds `{form}`: Octomind asks the user for `{found.name}`, and octoc leaves it as it is",
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
