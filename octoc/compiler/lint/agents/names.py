"""Rules over names of other clients' agents: two of one name, and a handoff to a slip of a name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from octoc.compiler.inputs.agents.clients import AgentDialect
from octoc.compiler.inputs.agents.copilot import COPILOT
from octoc.compiler.inputs.settings.clients import values_at
from octoc.compiler.model.build import Build
from octoc.compiler.model.documents import Document
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import DUPLICATE_AGENT, UNKNOWN_AGENT
from octoc.diagnostics.suggest import near_misses, slips_of
from octoc.lists import one_of
from octoc.plugin.file_kinds import Dialect
from octoc.plugin.lint import lint_check


@lint_check(DUPLICATE_AGENT)
def check_doubled_names(build: Build, sink: DiagnosticSink) -> None:
    """Report a second agent of one name in a folder of a client: the name stands for one of them alone."""
    # Source: Codex, `agent_roles.rs` (June 2026): files are read in the order of their paths.
    first: dict[tuple[Dialect, Path | None, str], Document] = {}
    documents = (one for one in build.checked.documents if isinstance(one.file.dialect, AgentDialect))
    for document in sorted(documents, key=lambda one: one.file.path):
        name, dialect = document.values.get("name"), document.file.dialect
        if not isinstance(name, str) or not name.strip():
            continue
        other = first.setdefault((dialect, _folder(document), name.strip()), document)
        if other is not document:
            # The file that has another name is likely the copy.
            one, other = (other, document) if _is_named_so(document, name) else (document, other)
            sink.report(
                DUPLICATE_AGENT,
                f"two agents of {dialect.client} are called `{name.strip()}`: {_effect(dialect)}",
                at=one.place("name"),
                related={"the other is here": other.place("name")},
                help="give one of them another name",
                severity=Severity.WARNING,
            )


@lint_check(UNKNOWN_AGENT)
def check_handoffs(build: Build, sink: DiagnosticSink) -> None:
    """Report a handoff whose agent is a slip of one in the same folder; any other may be a user's own agent."""
    agents = tuple(_agents(build, COPILOT))
    known: dict[Path, set[str]] = {}
    for document in agents:
        known.setdefault(document.file.path.parent, set()).update(_names(document))
    for document in agents:
        names = known[document.file.path.parent]
        for path, name in values_at(document.values, ("handoffs", "*", "agent")):
            near = (
                () if not isinstance(name, str) or name in names else slips_of(name, names) or near_misses(name, names)
            )
            if near:
                sink.report(
                    UNKNOWN_AGENT,
                    f"the handoff names the agent `{name}`, which is not in this folder",
                    at=document.place(*path),
                    help=f"did you mean {one_of(near)}?",
                    severity=Severity.WARNING,
                )


def _effect(dialect: Dialect) -> str:
    return (isinstance(dialect, AgentDialect) and dialect.doubled) or "the name stands for one of them alone"


def _folder(document: Document) -> Path | None:
    """Return the client's folder of agents that a file lies in."""
    home = document.file.dialect.home
    above = document.file.path.parents
    return next((one for one in above if (one.parent.name == home if home else one.name in ("agents", "agent"))), None)


def _is_named_so(document: Document, name: str) -> bool:
    return document.file.path.stem.replace("-", "_") == name.strip().replace("-", "_")


def _agents(build: Build, dialect: Any) -> Iterator[Document]:
    return (document for document in build.checked.documents if document.file.dialect is dialect)


def _names(document: Document) -> Iterator[str]:
    yield document.file.path.name.partition(".")[0]  # before the endings by which the client knows its agents
    if isinstance(document.values.get("name"), str):
        yield document.values["name"].strip()
