"""Look up texts that train the gate: the workspace's own needs, and the triggers that plugins wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from octoc.compiler.calibrate.needs.library import Need
from octoc.compiler.expand.digests import told_digest
from octoc.compiler.model.resolved import Capability
from octoc.compiler.model.source import ExpansionSource, NeedSource
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.resolve import REPEATED_NEED, STALE_EXPANSION
from octoc.diagnostics.suggest import did_you_mean


def resolve_needs(sources: Iterable[NeedSource], sink: DiagnosticSink) -> tuple[Need, ...]:
    """Return the needs sorted by name; the first one of a name wins, and the others are reported."""
    first: dict[str, NeedSource] = {}
    for source in sources:
        winner = first.setdefault(source.name, source)
        if winner is not source:
            sink.report(
                REPEATED_NEED,
                f"need `{source.name}` is there twice",
                at=source.place,
                related={"the first is used": winner.place},
                help="give one of them another name",
            )
    return tuple(Need(name, first[name].about, first[name].says) for name in sorted(first))


def resolve_expansions(
    sources: Iterable[ExpansionSource], capabilities: Mapping[str, Capability], sink: DiagnosticSink
) -> dict[str, tuple[str, ...]]:
    """Return capability -> expanded triggers, sorted by name; report stale ones."""
    expansions: dict[str, tuple[str, ...]] = {}
    for source in sorted(sources, key=lambda source: source.capability):
        capability = capabilities.get(source.capability)
        if capability is None:
            sink.report(
                STALE_EXPANSION,
                f"expanded triggers are for capability `{source.capability}`, which no tap has",
                at=source.place,
                help=did_you_mean(source.capability, capabilities) or "run `octoc expand`, which leaves them out",
            )
            continue
        if source.triggers != told_digest(capability):
            worded = capability.triggers[0].place if capability.triggers else capability.place
            sink.report(
                STALE_EXPANSION,
                f"the expanded triggers of `{source.capability}` were made before it was reworded",
                at=source.place.child("triggers"),
                related={"it is worded here": worded},
                help=f"run `octoc expand {source.capability}`, and review what it writes",
            )
        if source.says and capability.triggers:
            expansions[source.capability] = source.says
    return expansions
