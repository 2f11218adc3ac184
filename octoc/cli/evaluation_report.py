"""The report of `octoc test` as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs
import click

from octoc.diagnostics.render import escape

if TYPE_CHECKING:
    from octoc.evaluation import Results, Share
    from octoc.evaluation.outcomes import Outcome
    from octoc.evaluation.recorded import Comparison, OutcomeChange
    from octoc.evaluation.report import Report

_SHOWN = 20
_LABELS = {
    "right": "right (of messages that expect a capability)",
    "precision": "precision (of activations)",
    "recall": "recall (of expected activations)",
    "abstention": "abstention (of messages that expect none)",
    "wrong": "wrong activation (of all messages)",
}
_SEARCH_LABELS = {
    "recall": "recall@5",
    "ndcg": "nDCG@10",
    "nothing": "says that nothing fits",
}


def print_text(report: Report, *, verbose: bool) -> None:
    """Write a report for people: figures, kinds, what was confused, what changed, limits."""
    from octoc.cli.tables import print_table
    from octoc.evaluation import confusions, routing_figures, search_figures

    results = report.results
    if results.messages:
        click.echo(f"gate: {escape(results.gate)}")
    if results.messages and results.no_encoder:
        click.echo(f"warning: routing without an encoder: {escape(results.no_encoder)}", err=True)
    rows = []
    if results.messages:
        figures = attrs.asdict(routing_figures(results.messages), recurse=False)
        rows += [(_LABELS[name], *_cells(share)) for name, share in figures.items() if share.whole]
    if results.queries:
        found = attrs.asdict(search_figures(results.queries), recurse=False)
        rows += [(_SEARCH_LABELS[name], *_cells(share)) for name, share in found.items() if share.whole]
    print_table("figures", ("", "share", "of"), rows)
    _print_notes(results)
    pairs = confusions(results.messages)
    if pairs:
        click.echo()
        shown = pairs if verbose else pairs[:_SHOWN]
        print_table("not right", ("expected", "got", "messages"), shown)
        if len(shown) < len(pairs):
            click.echo(f"{len(pairs) - len(shown)} more: --verbose shows them", err=True)
    if verbose:
        _print_each([outcome for outcome in results.all if outcome.verdict != "right"])
    _print_changes(report.comparison)
    for floor in report.floors:
        value = "nothing measures it" if floor.share.value is None else f"{floor.share.value:.3f}"
        state = "held" if floor.held else "NOT HELD"
        click.echo(f"{state}: {floor.name} = {floor.limit}, measured: {value}")


def _print_notes(results: Results) -> None:
    from octoc.cli.tables import print_table
    from octoc.evaluation import routing_figures, search_figures

    if results.notes in {(), ("",)}:
        return
    rows: list[tuple[str | int, ...]] = []
    for note in results.notes:
        messages, queries = results.messages_of(note), results.queries_of(note)
        routing, search = routing_figures(messages), search_figures(queries)
        cells = [routing.right, routing.abstention, routing.wrong, search.recall, search.nothing]
        rows.append((note or "(none)", len(messages) + len(queries), *(_percent(share) for share in cells)))
    click.echo()
    columns = ("note", "fixtures", "right", "abstention", "wrong", "recall@5", "nothing fits")
    print_table("by note", columns, rows)


def _print_each(outcomes: Sequence[Outcome]) -> None:
    from octoc.cli.tables import one_line, print_table
    from octoc.evaluation.figures import names
    from octoc.evaluation.outcomes import MessageOutcome

    rows: list[tuple[str, ...]] = []
    for one in outcomes:
        if isinstance(one, MessageOutcome):
            rows.append((str(one.verdict), one_line(one.fixture.text), names(one.fixture.expect), names(one.got)))
        else:
            found = ", ".join(one.found[:5]) or "none"
            rows.append((str(one.verdict), one_line(one.fixture.query), names(one.fixture.tools), found))
    click.echo()
    print_table("each that is not right", ("", "fixture", "expected", "got"), rows)


def _print_changes(comparison: Comparison | None) -> None:
    if comparison is None:
        click.echo("no recorded results to compare with: run `octoc test --record`", err=True)
        return
    for word, changes in (("worse", comparison.regressions), ("better", comparison.improvements)):
        for change in changes:
            click.echo(f"{word}: {_told(change)}")
    worse, better = len(comparison.regressions), len(comparison.improvements)
    others = len(comparison.changes) - worse - better
    counts = {"worse": worse, "better": better, "otherwise wrong": others}
    counts |= {"new": comparison.new, "no longer there": comparison.gone}
    said = [f"{count} {word}" for word, count in counts.items() if count]
    if said:
        click.echo(f"against routing.lock: {', '.join(said)}; octoc test --record accepts it", err=True)


def _told(change: OutcomeChange) -> str:
    return f"{escape(repr(change.text))} got {escape(change.before)}, and gets {escape(change.now)} now"


def _cells(share: Share) -> tuple[str, str]:
    part = f"{share.part:.0f}" if float(share.part).is_integer() else f"{share.part:.2f}"
    return _percent(share), f"{part} of {share.whole}"


def _percent(share: Share) -> str:
    return "-" if share.value is None else f"{100 * share.value:.1f} %"
