"""Rules over the tools that agents of other clients and skills name: near misses, and tools that the client lacks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from octoc.chezmoi import is_in_source
from octoc.compiler.fixes.edits import replaced
from octoc.compiler.inputs.agents.clients import AgentDialect
from octoc.compiler.inputs.agents.tool_lists import names_in
from octoc.compiler.inputs.settings.clients import SettingsDialect, values_at
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Document
from octoc.compiler.scope.hosts import HOST_TOOLS, host_name
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.check import MISSING_KEY
from octoc.diagnostics.rules.resolve import UNKNOWN_TOOL
from octoc.diagnostics.suggest import near_miss
from octoc.lists import name_list
from octoc.plugin.lint import lint_check

_SHOWN = 5
_ALLOWED = "allowed-tools"
_OF_A_SERVER = re.compile(r"[/@*:.]|__|\Amcp_")


@lint_check(UNKNOWN_TOOL)
def check_client_tools(build: Build, sink: DiagnosticSink) -> None:
    """Report tools that the client of an agent does not have: a near miss always, another where the client refuses it.

    Any other name may be a tool of a plugin, an extension or a server.
    """
    for document in build.checked.documents:
        dialect = document.file.dialect
        if isinstance(dialect, AgentDialect):
            if not dialect.skips(document.file.path):
                _check_agent(document, dialect, sink)
        elif _ALLOWED in document.file.kind.tool_rules:
            _check_skill(document, sink)


@lint_check(MISSING_KEY)
def check_client_names(build: Build, sink: DiagnosticSink) -> None:
    """Report an agent without a key that its client wants, when no settings name its file either."""
    documents = build.checked.documents
    named = {
        os.path.normpath(document.file.path.parent / value)
        for document in documents
        if isinstance(document.file.dialect, SettingsDialect)
        for pattern in document.file.dialect.files
        for _, value in values_at(document.values, pattern)
        if isinstance(value, str)
    }
    read = {document.file.path for document in documents}
    unread = {
        file.path.parent
        for file in build.discovered.files
        if isinstance(file.dialect, SettingsDialect) and file.path not in read
    }
    for document in documents:
        dialect = document.file.dialect
        if not isinstance(dialect, AgentDialect) or os.path.normpath(document.file.path) in named:
            continue
        if not unread.isdisjoint(document.file.path.parents) or is_in_source(document.file.path):
            continue  # settings that octoc cannot read may name the agent
        missing = name_list(key for key in dialect.wants if key not in document.values)
        if missing:
            sink.report(
                MISSING_KEY,
                f"the file has no {missing}, and no settings beside it name the agent",
                at=document.place(),
                notes=(dialect.effect,),
                help=f"add {missing}",
                # Settings of the user may name a file that has no name of its own.
                severity=Severity.ERROR if "name" in document.values else Severity.WARNING,
            )


def _check_agent(document: Document, dialect: AgentDialect, sink: DiagnosticSink) -> None:
    if dialect.wants_known:
        _check_refused(document, dialect, sink)
        return
    tools = tuple(_tools(document, dialect))
    for name, at in tools:
        # Another list may have the tool that a slip in this one means.
        names = {other for other, place in tools if place.path[:1] == at.path[:1]}
        near = near_miss(name, dialect.builtin, ignores_case=dialect.ignores_case)
        # Lists for several versions of a client have both names.
        if near is not None and near not in names and name not in dialect.elsewhere and not _OF_A_SERVER.search(name):
            _report_miss(name, near, f"{dialect.client} has no tool `{name}`", at, sink)
    _report_elsewhere(document, dialect, sink)


def _check_skill(document: Document, sink: DiagnosticSink) -> None:
    place = document.place(_ALLOWED)
    for name, path in names_in(document.values.get(_ALLOWED)):
        tool = host_name(name)
        near = None if _OF_A_SERVER.search(tool) else near_miss(tool, HOST_TOOLS)
        if near is not None and tool.casefold().replace("_", "") != near.casefold().replace("_", ""):
            _report_miss(tool, near, f"no client has a tool `{tool}`", place.child(*path), sink)


def _check_refused(document: Document, dialect: AgentDialect, sink: DiagnosticSink) -> None:
    """Report once all tools for which the client refuses the agent."""
    refused = [
        (name, at)
        for name, at in _tools(document, dialect)
        if name not in dialect.builtin and re.match(dialect.wants_known, name) is None
    ]
    if not refused:
        return
    names = tuple(dict.fromkeys(name for name, _ in refused))
    own = {name: _own(name, dialect) for name in names}
    advice = ", ".join(f"`{new}` for `{name}`" for name, new in own.items() if new)
    sink.report(
        UNKNOWN_TOOL,
        f"{dialect.client} has no tool {_named(names)}",
        at=refused[0][1],
        notes=(dialect.effect,),
        help=f"write {advice}"
        if advice
        else "name tools that it has; a server's tool is written `mcp_<server>_<tool>`",
        subject=f"{dialect.name} {' '.join(sorted(names))}",
    )


def _report_elsewhere(document: Document, dialect: AgentDialect, sink: DiagnosticSink) -> None:
    foreign = [(name, at) for name, at in _tools(document, dialect) if name in dialect.elsewhere]
    if not foreign:
        return
    names = tuple(dict.fromkeys(name for name, _ in foreign))
    sink.report(
        UNKNOWN_TOOL,
        f"{dialect.client} has no tool {_named(names)}",
        at=foreign[0][1],
        help=f"write {', '.join(f'`{dialect.elsewhere[name]}` for `{name}`' for name in names)}",
        severity=Severity.WARNING,
        subject=f"{dialect.name} {' '.join(names)}",
    )


def _report_miss(name: str, near: str, message: str, at: Place, sink: DiagnosticSink) -> None:
    fix = replaced(at, name, near, f"write `{near}`")
    sink.report(
        UNKNOWN_TOOL, message, at=at, help=f"did you mean `{near}`?", severity=Severity.WARNING, subject=name, fix=fix
    )


def _tools(document: Document, dialect: AgentDialect) -> Iterator[tuple[str, Place]]:
    for key in dialect.tools:
        place = document.place(key)
        for name, path in names_in(document.values.get(key)):
            at = place.child(*path)
            yield name, at.key() if path and isinstance(path[-1], str) else at


def _own(name: str, dialect: AgentDialect) -> str | None:
    return dialect.elsewhere.get(name) or near_miss(name, dialect.builtin)


def _named(names: tuple[str, ...]) -> str:
    return name_list(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
