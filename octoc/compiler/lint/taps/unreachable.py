"""A rule over capabilities that the gate activates for none of their own triggers. Only a build has a gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from octoc.bundle.model import CapabilityEntry
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Capability
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_taps import UNREACHABLE
from octoc.plugin.lint import lint_check

if TYPE_CHECKING:
    from octoc.routing.decision import Decision
    from octoc.routing.router import Router


@lint_check(UNREACHABLE)
def check_unreachable(build: Build, sink: DiagnosticSink) -> None:
    """Report a capability that none of its triggers activates for any agent."""
    triggers = build.embedded.triggers
    if build.calibrated.gate is None or triggers is None:
        return
    from octoc.routing.router import load_router  # loads numpy, which a check never needs

    entries = _entries(build.resolved.capabilities)
    router = load_router(build.calibrated.gate, build.calibrated.arrays, triggers, entries)
    scopes = {frozenset(r.capabilities) - frozenset(r.boot): None for r in build.scoped.registries.values()}
    # Fewest candidates first: the fewer there are, the easier one is activated.
    ordered = sorted(scopes, key=lambda scope: (len(scope), sorted(scope)))
    for capability, entry in zip(build.resolved.capabilities, entries, strict=True):
        own = [scope for scope in ordered if capability.name in scope]
        if not capability.triggers or not own:
            continue
        refused = _refusals(router, build, entry, own)
        if refused is None:
            continue
        best = max(refused, key=lambda decision: decision.scores.get(capability.name, 0.0))
        sink.report(
            UNREACHABLE,
            f"none of the {len(entry.triggers)} triggers of capability `{capability.name}` activates it",
            at=capability.triggers[0].place,
            notes=(_best_score(best, capability),),
            help="reword them, or the triggers that they compete with, so that they are about different things",
        )


def _entries(capabilities: Sequence[Capability]) -> list[CapabilityEntry]:
    entries: list[CapabilityEntry] = []
    row = 0
    for capability in capabilities:
        end = row + len(capability.triggers)
        texts = tuple(trigger.value for trigger in capability.triggers)
        entries.append(
            CapabilityEntry(name=capability.name, provider=capability.provider, triggers=texts, rows=(row, end))
        )
        row = end
    return entries


def _refusals(
    router: Router, build: Build, entry: CapabilityEntry, scopes: Sequence[frozenset[str]]
) -> list[Decision] | None:
    """Return the gate's decision for each trigger and scope; None as soon as one activates the capability.

    The gate abstains from a trigger that is not a message, since it is too short or has a tag.
    """
    from octoc.routing.clean import clean_intent

    triggers = build.embedded.triggers
    refused: list[Decision] = []
    for scope in scopes:
        for number, text in enumerate(entry.triggers):
            vector = None if triggers is None else triggers[entry.rows[0] + number]
            decision = router.decide(clean_intent(text), vector, scope)
            if decision.capability == entry.name:
                return None
            refused.append(decision)
    return refused


def _best_score(best: Decision, capability: Capability) -> str:
    winner = best.capability
    if winner is not None:
        return f"the nearest of them activates `{winner}`"
    other = next((name for name in best.scores if name != capability.name), None)
    own = best.scores.get(capability.name)
    if own is None:
        return f"the gate abstains: {best.reason.value}"
    score_of_other = "" if other is None else f"; `{other}` scores {best.scores[other]:.3f}"
    return f"the best score is {own:.3f}, the threshold {best.threshold:.3f}{score_of_other}"
