"""What a workspace itself brings to routing beside its capabilities, as training texts and needs."""

from __future__ import annotations

from octoc.compiler.calibrate.needs.library import Need, shipped_needs, with_own
from octoc.compiler.calibrate.texts import BACKGROUND_WEIGHT, LIBRARY_WEIGHT, Example, examples
from octoc.compiler.model.resolved import Resolved

EXPANDED_WEIGHT = LIBRARY_WEIGHT
"""Of a text that a plugin said and somebody reviewed: as much as one of a need that the capability meets."""


def all_examples(resolved: Resolved) -> tuple[Example, ...]:
    """Return every training text but the library's: of capabilities, of the background, and the workspace's own."""
    known = {capability.name for capability in resolved.capabilities if capability.triggers}
    if not known:
        return ()
    expanded = (
        Example(text, name, EXPANDED_WEIGHT, own=True)
        for name, texts in resolved.expansions.items()
        for text in texts
        if name in known
    )
    background = (Example(text, None, BACKGROUND_WEIGHT) for text in resolved.sources.background)
    return (*examples(resolved.capabilities), *expanded, *background)


def all_needs(resolved: Resolved) -> tuple[Need, ...]:
    """Return the needs to learn from: those that ship, unless `[routing] needs` says no, and the workspace's own."""
    shipped = shipped_needs() if resolved.sources.discovered.settings.routing.needs else ()
    return with_own(shipped, resolved.needs)
