"""A report as one HTML file that needs no script, no network and no other file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import markupsafe
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from octoc.compiler.scope.report import ACTIVE, DEFERRED, DIRECT
from octoc.diagnostics.fold import folded
from octoc.diagnostics.model import Diagnostic
from octoc.diagnostics.render import severity_counts
from octoc.diagnostics.rule import Rule, Severity
from octoc.evaluation.figures import Share, outcome_counts, routing_figures
from octoc.evaluation.labels import labelled, percent, share_cells
from octoc.evaluation.outcomes import MessageOutcome, Verdict
from octoc.report import words
from octoc.report.layout import draw
from octoc.report.model import HOST, AgentBill, GraphCapability, ToolGraph, WorkspaceReport
from octoc.report.text import safe
from octoc.routing.fixtures import NOTHING
from octoc.tokens import AT_THE_START, start_title

_TEMPLATES = Path(__file__).parent / "templates"
_IN_BACKTICKS = re.compile("`([^`]+)`")
_CLASSES = {DIRECT: "direct", DEFERRED: "deferred", ACTIVE: "active", HOST: "host"}


@attrs.frozen(kw_only=True)
class BillRow:
    """An agent's bars: their parts in percent of the longest bar."""

    bill: AgentBill
    parts: tuple[tuple[str, float], ...]
    bound: float


@attrs.frozen(kw_only=True)
class ConfusionMatrix:
    """Expected by got, each with at least one message that is not right; `right` are all others, with their counts."""

    expected: tuple[str, ...]
    got: tuple[str, ...]
    cells: dict[tuple[str, str], int]
    right: tuple[tuple[str, int], ...]


@attrs.frozen(kw_only=True)
class RuleFindings:
    """The findings of one rule with one severity: those that say the same are one."""

    rule: Rule
    count: int
    findings: tuple[Diagnostic, ...]


def render_html(report: WorkspaceReport) -> str:
    """Return the page. Every text is escaped, hidden characters are written out, and secrets are masked."""
    outcomes = () if report.routing is None else report.routing.results.messages
    counts = severity_counts(report.findings)
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            words=words,
            style=markupsafe.Markup((_TEMPLATES / "report.css").read_text(encoding="utf-8")),  # noqa: S704  # our own file
            severities=[(one.label, counts[one], by_rule(report.of(one))) for one in reversed(Severity)],
            bars=bill_rows(report.bill),
            titles=AT_THE_START,
            bill_title=start_title(one.tokens.counter for one in report.bill),
            how=_CLASSES,
            hosts=any(
                cell.how == HOST for row in (report.scope.rows if report.scope else ()) for cell in row.cells.values()
            ),
            drawing=draw(report.graph),
            users=capability_users(report.graph),
            shares=shares(outcomes),
            matrix=confusion_matrix(outcomes),
            not_right=[one for one in outcomes if one.verdict is not Verdict.RIGHT],
        )
    )


def bill_rows(bills: Sequence[AgentBill]) -> list[BillRow]:
    """Return the bars of agents, in their order."""
    longest = max((max(one.tokens.start_tokens, one.tokens.bound_tokens) for one in bills), default=0) or 1
    rows = []
    for one in bills:
        tokens = one.tokens
        parts = {
            "prompts": tokens.prompt_tokens + tokens.servers_prompt_tokens,
            "own": tokens.own_tokens,
            "direct": tokens.direct_tokens - tokens.own_tokens,
        }
        rows.append(
            BillRow(
                bill=one,
                parts=tuple((name, round(100 * part / longest, 2)) for name, part in parts.items() if part),
                bound=round(100 * tokens.bound_tokens / longest, 2),
            )
        )
    return rows


def by_rule(found: Iterable[Diagnostic]) -> list[RuleFindings]:
    """Return findings by rule, those with most findings first."""
    rules: dict[str, list[Diagnostic]] = {}
    for one in found:
        rules.setdefault(one.rule.code, []).append(one)
    groups = [
        RuleFindings(
            rule=group[0].rule,
            count=severity_counts(group)[group[0].severity],
            findings=folded(group, most=Severity.ERROR),
        )
        for group in rules.values()
    ]
    return sorted(groups, key=lambda one: (-one.count, one.rule.code))


def shares(outcomes: Sequence[MessageOutcome]) -> list[tuple[str, Share]]:
    """Return the shares that are drawn large."""
    figures = routing_figures(outcomes)
    named = (("precision", figures.precision), ("recall", figures.recall), ("abstention", figures.abstention))
    return [(name, share) for name, share in named if share.whole]


def confusion_matrix(outcomes: Iterable[MessageOutcome]) -> ConfusionMatrix:
    """Return the part of the matrix that is not on its diagonal alone."""
    counts = outcome_counts(outcomes)
    wrong = {name for pair in counts if pair[0] != pair[1] for name in pair}
    cells = {pair: count for pair, count in counts.items() if wrong.intersection(pair)}

    def place(name: str) -> tuple[bool, str]:
        return name == NOTHING, name

    return ConfusionMatrix(
        expected=tuple(sorted({expected for expected, _ in cells}, key=place)),
        got=tuple(sorted({got for _, got in cells}, key=place)),
        cells=cells,
        right=tuple(sorted((pair[0], count) for pair, count in counts.items() if pair not in cells)),
    )


def capability_users(graph: ToolGraph) -> list[tuple[GraphCapability, int]]:
    """Return each capability with the number of agents that may have it, those with most agents first."""
    found = [(one, sum(one.name in agent.capabilities for agent in graph.agents)) for one in graph.capabilities]
    return sorted(found, key=lambda pair: (-pair[1], pair[0].name))


def with_code(text: str) -> markupsafe.Markup:
    """Return a text as HTML in which the words that stand in backticks are code."""
    parts = _IN_BACKTICKS.split(safe(text))
    code = markupsafe.Markup("<code>{}</code>")
    return markupsafe.Markup("").join(code.format(part) if at % 2 else part for at, part in enumerate(parts))


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        finalize=_finalized,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "thousands": lambda number: f"{number:,}",
        "counted": words.counted,
        "percent": percent,
        "share_cells": share_cells,
        "place": words.place,
        "with_code": with_code,
    }
    made.filters.update(filters)
    made.globals["labelled"] = labelled
    return made


def _finalized(value: object) -> object:
    return safe(value) if isinstance(value, str) and not isinstance(value, markupsafe.Markup) else value
