"""Rules over the `# Key: value` lines at the top of a tap's TOML files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from octoc.compiler.lint.taps.lookup import SHOWN, all_providers, defined_server, server_of
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Comment
from octoc.compiler.model.resolved import Server
from octoc.diagnostics.model import DiagnosticSink, Place, Span
from octoc.diagnostics.rules.lint_taps import HEADER, STALE_TOOL_NOTE
from octoc.lists import some_names
from octoc.names import ToolPattern, any_glob_matches, glob_matches
from octoc.plugin.lint import lint_check

LENGTHS = {"Title": (5, 60), "Description": (20, 160)}
"""Header -> the minimum and maximum number of characters that Octomind's tap allows."""

_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\*?\Z")
_NOTE = "Provides tools"


@lint_check(HEADER)
def check_headers(build: Build, sink: DiagnosticSink) -> None:
    """Report a title or a description that is missing, too short or too long."""
    for what, place in _titled(build):
        comments = build.sources.comments.get(place.file, ())
        for key, (fewest, most) in LENGTHS.items():
            header = _header(comments, key)
            if header is None:
                sink.report(
                    HEADER,
                    f"{what} has no `# {key}:`, expected one of {fewest} to {most} characters",
                    at=Span(file=place.file, line=1, column=1, end_line=1, end_column=2),
                    help=f"add `# {key}: …` to the comment at the top",
                )
            elif not fewest <= len(header[0]) <= most:
                sink.report(
                    HEADER,
                    f"the `# {key}:` of {what} has {len(header[0])} characters, expected {fewest} to {most}",
                    at=header[1],
                )


@lint_check(STALE_TOOL_NOTE)
def check_tool_notes(build: Build, sink: DiagnosticSink) -> None:
    """Report a tool that `# Provides tools:` names and that no pattern of the file grants."""
    servers = server_of(build)
    for source, provider in all_providers(build):
        note = _header(build.sources.comments.get(provider.place.file, ()), _NOTE)
        if note is None or not provider.allowed_tools:
            continue
        patterns = [ToolPattern.parse(located.value) for located in provider.allowed_tools]
        own = [server for s in provider.servers if (server := defined_server(servers, s)) is not None]
        absent = [tool for tool in _noted(note[0]) if not _is_granted(tool, patterns, own)]
        if absent:
            sink.report(
                STALE_TOOL_NOTE,
                f"`# {_NOTE}:` of capability `{source.name}` names {some_names(absent, SHOWN)}, which its "
                f"`allowed_tools` {'does' if len(absent) == 1 else 'do'} not grant",
                at=note[1],
                related={"these are granted": provider.place.child("roles", "mcp", "allowed_tools")},
            )


def _titled(build: Build) -> Iterator[tuple[str, Place]]:
    for source, provider in all_providers(build):
        yield f"provider `{provider.name}` of capability `{source.name}`", provider.place
    for agent in build.sources.agents:
        if agent.kind == "octomind":
            yield f"agent `{agent.name}`", agent.place


def _header(comments: tuple[Comment, ...], key: str) -> tuple[str, Span] | None:
    start = f"# {key}:"
    for comment in comments:
        if comment.text.startswith(start):
            value = comment.text.removeprefix(start).strip()
            first = comment.text.index(value, len(start)) if value else len(start)
            line, column = comment.span.line, comment.span.column
            end = column + first + len(value)
            return value, Span(
                file=comment.span.file, line=line, column=column + first, end_line=line, end_column=max(end, column + 1)
            )
    return None


def _noted(text: str) -> list[str]:
    """Return the names of tools that a note lists before its dash; other words are left out."""
    listed = re.split(r"\s+(?:—|-)\s+", text, maxsplit=1)[0]
    if listed.startswith("("):
        return []
    words = [word.strip() for word in re.sub(r"\([^)]*\)", "", listed).split(",")]
    return [word for word in words if _TOOL.match(word)]


def _is_granted(tool: str, patterns: list[ToolPattern], servers: list[Server]) -> bool:
    """Tell whether the patterns may grant a tool, or one of the tools that begin with a prefix such as `read_*`."""
    globs = [pattern.glob for pattern in patterns]
    if tool.endswith("*"):
        return any(glob_matches(tool, glob.rstrip("*")) or glob_matches(glob, tool[:-1]) for glob in globs)
    if not any_glob_matches(globs, tool):
        return False
    listed = [server for server in servers if server.listed]
    return len(listed) < len(servers) or not servers or any(t.name == tool for s in listed for t in s.tools)
