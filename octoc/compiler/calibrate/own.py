"""What a workspace itself brings to routing beside its capabilities, as training texts and needs."""

from __future__ import annotations

from octoc.compiler.calibrate.needs.library import Need, shipped_needs, with_own
from octoc.compiler.calibrate.texts import BACKGROUND_WEIGHT, LIBRARY_WEIGHT, Example, examples
from octoc.compiler.model.build import Build

EXPANDED_WEIGHT = LIBRARY_WEIGHT
"""Of a text that a plugin said and somebody reviewed: as much as one of a need that the capability meets."""


def all_examples(build: Build) -> tuple[Example, ...]:
    """Return every training text but the library's: of capabilities, of the background, and the workspace's own."""
    known = {capability.name for capability in build.resolved.capabilities if capability.triggers}
    if not known:
        return ()
    expanded = (
        Example(text, name, EXPANDED_WEIGHT, own=True)
        for name, texts in build.resolved.expansions.items()
        for text in texts
        if name in known
    )
    background = (Example(text, None, BACKGROUND_WEIGHT) for text in build.sources.background)
    return (*examples(build.resolved.capabilities), *expanded, *background)


def all_needs(build: Build) -> tuple[Need, ...]:
    """Return the needs to learn from: those that ship, unless `[routing] needs` says no, and the workspace's own."""
    shipped = shipped_needs() if build.settings.routing.needs else ()
    return with_own(shipped, build.resolved.needs)
