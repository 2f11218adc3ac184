"""One text as a file of a kind: read, checked, and what was found with the text that each finding points at."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.compiler.check.stage import check_values
from octoc.compiler.inputs.agents.manifest import AGENT_MANIFEST
from octoc.compiler.inputs.agents.markdown import AGENT_MD
from octoc.compiler.inputs.capability import CAPABILITY_CONFIG, CAPABILITY_PROVIDER
from octoc.compiler.inputs.mcp.servers import MCP
from octoc.compiler.inputs.routing import FIXTURES
from octoc.compiler.inputs.skill import SKILL
from octoc.compiler.inputs.snapshot import SNAPSHOT
from octoc.compiler.inputs.workspace import WORKSPACE
from octoc.compiler.model.documents import FoundFile
from octoc.compiler.read.spans import SpanIndex
from octoc.compiler.read.stage import parse
from octoc.diagnostics.model import Diagnostic, DiagnosticSink, Span
from octoc.plugin.file_kinds import FileKind
from tests.compiler.dialects import dialect_named

DISPLAY = {
    WORKSPACE: "octoc.toml",
    MCP: ".mcp.json",
    CAPABILITY_CONFIG: "taps/acme/capabilities/clock/config.toml",
    CAPABILITY_PROVIDER: "taps/acme/capabilities/clock/local.toml",
    AGENT_MANIFEST: "taps/acme/agents/developer/general.toml",
    AGENT_MD: "agents/reviewer/AGENT.md",
    SKILL: "taps/acme/skills/commit-messages/SKILL.md",
    SNAPSHOT: "snapshots/time.json",
    FIXTURES: "routing/office.toml",
}
KEY = {SNAPSHOT: {"server": "time"}}


@attrs.frozen(kw_only=True)
class Finding:
    """A diagnostic, and `at`: the text of its span, "" for the file as a whole."""

    diagnostic: Diagnostic
    at: str

    @property
    def code(self) -> str:
        return self.diagnostic.rule.code

    @property
    def summary(self) -> tuple[str, str, str]:
        return self.code, self.diagnostic.message, self.at


@attrs.frozen(kw_only=True)
class Outcome:
    """What check left of a file, None for nothing, and what it found, by place."""

    values: Mapping[str, Any] | None
    findings: tuple[Finding, ...]

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.findings]

    @property
    def summaries(self) -> list[tuple[str, str, str]]:
        return [finding.summary for finding in self.findings]


Check = Callable[..., Outcome]


@pytest.fixture
def check_text() -> Check:
    """A function (kind, text, dialect, display) -> Outcome."""
    return _check_text


def _check_text(kind: FileKind, text: str, dialect: str = "", display: str = "", tap: str | None = "acme") -> Outcome:
    display = display or DISPLAY[kind]
    dialect = dialect or {MCP: "claude", AGENT_MD: "octo"}.get(kind, "")
    file = FoundFile(
        path=Path(display),
        display=display,
        kind=kind,
        tap=tap,
        key=KEY.get(kind, {}),
        dialect=dialect_named(kind, dialect),
    )
    # What the values' reader says of the text is another stage's.
    document = parse(file, text, "0" * 64, DiagnosticSink())
    assert document is not None, "the text of a case has to be readable"
    sink = DiagnosticSink(SpanIndex({display: text}.get))
    values = check_values(file, document.values, sink)
    findings = (Finding(diagnostic=found, at=_text_at(text, found.span)) for found in sink.diagnostics)
    return Outcome(values=values, findings=tuple(findings))


def _text_at(text: str, span: Span | None) -> str:
    assert span is not None
    if span.line == 0:
        return ""
    rows = text.splitlines(keepends=True)[span.line - 1 : span.end_line]
    rows[-1] = rows[-1][: span.end_column - 1]
    rows[0] = rows[0][span.column - 1 :]
    return "".join(rows)
