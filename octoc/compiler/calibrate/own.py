"""Training texts and needs of a workspace and of octoc."""

from __future__ import annotations

from octoc.compiler.calibrate.needs.library import Need, shipped_needs, with_own
from octoc.compiler.calibrate.texts import BACKGROUND_WEIGHT, LIBRARY_WEIGHT, Example, examples
from octoc.compiler.model.build import Build

EXPANDED_WEIGHT = LIBRARY_WEIGHT
"""Weight of a reviewed text of a plugin: that of a message of a need that the capability meets."""


def all_examples(build: Build) -> tuple[Example, ...]:
    """Return the training texts of capabilities, the background and the workspace, without those of the library."""
    routed = {capability.name for capability in build.resolved.capabilities if capability.triggers}
    if not routed:
        return ()
    expanded = (
        Example(text, name, EXPANDED_WEIGHT, own=True)
        for name, texts in build.resolved.expansions.items()
        for text in texts
        if name in routed
    )
    background = (Example(text, None, BACKGROUND_WEIGHT) for text in build.sources.background)
    return (*examples(build.resolved.capabilities), *expanded, *background)


def all_needs(build: Build) -> tuple[Need, ...]:
    """Return the needs for training: those that ship, unless `[routing] needs` is false, and the workspace's own."""
    shipped = shipped_needs() if build.settings.routing.needs else ()
    return with_own(shipped, build.resolved.needs)
