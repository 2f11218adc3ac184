"""Stage calibrate: from vectors to the gate of the bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from octoc.bundle.model import Gate
from octoc.compiler.cache import Cache, cache_key
from octoc.compiler.calibrate.texts import Example, examples, follow_up_lines, further_background
from octoc.compiler.context import Context
from octoc.compiler.model.resolved import Calibrated, Embedded
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.needs import Need, shipped_needs
from octoc.diagnostics.rules.plugin import GATE_METHOD, GATE_SETTING_UNUSED
from octoc.routing.gate import (
    CALIBRATED_THRESHOLDS,
    NEEDS_THRESHOLDS,
    OCTOMIND_MARGIN,
    OCTOMIND_THRESHOLD,
    WORDS_THRESHOLDS,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from octoc.compiler.calibrate.matching import Match

    Arrays = Mapping[str, NDArray[np.generic]]

KIND = "gate"
_WHAT = "calibrating the gate"
RECIPE = 5
"""Counts changes of how the gate is learned, so that no cache brings an older one back."""


def calibrate(embedded: Embedded, context: Context) -> Calibrated:
    """Make the gate that the workspace names; None where there is nothing to route, or Octomind's has no vectors."""
    resolved = embedded.described.scoped.resolved
    settings = resolved.sources.discovered.settings
    routing = settings.routing
    if not any(capability.triggers for capability in resolved.capabilities):
        return Calibrated(embedded=embedded)
    if routing.gate == "octomind":
        if embedded.triggers is None:
            return Calibrated(embedded=embedded)
        gate = Gate(
            kind="octomind",
            threshold=OCTOMIND_THRESHOLD if routing.threshold is None else routing.threshold,
            margin=OCTOMIND_MARGIN if routing.margin is None else routing.margin,
            top_k=routing.top_k,
        )
        return Calibrated(embedded=embedded, gate=gate)
    _report_unused(settings, context)
    learned, arrays = _learned(embedded, context)
    data = {
        **learned,
        "profile": routing.profile,
        "follow_ups": routing.follow_ups,
        "max_per_message": routing.max_per_message,
        "words_threshold": WORDS_THRESHOLDS[routing.profile],
    }
    threshold = (NEEDS_THRESHOLDS if "nearby" in learned else CALIBRATED_THRESHOLDS)[routing.profile]
    if learned["method"] == "ridge":
        _report_method(len(learned["classes"]), settings, context)
    gate = Gate(kind="calibrated", threshold=threshold, data=data, arrays=tuple(sorted(arrays)))
    return Calibrated(embedded=embedded, gate=gate, arrays=arrays)


def _report_method(classes: int, settings: WorkspaceSettings, context: Context) -> None:
    context.sink.report(
        GATE_METHOD,
        f"{classes} capabilities: the gate is a ridge regression over hashed n-grams, not a logistic regression",
        at=settings.place,
    )


def _report_unused(settings: WorkspaceSettings, context: Context) -> None:
    for name in ("threshold", "margin"):
        if getattr(settings.routing, name) is not None:
            context.sink.report(
                GATE_SETTING_UNUSED,
                f"`{name}` belongs to the gate `octomind`, and has no effect on `{settings.routing.gate}`",
                at=settings.place.child("routing", name),
                help='remove it, or set `gate = "octomind"` under `[routing]`',
            )


def _learned(embedded: Embedded, context: Context) -> tuple[Mapping[str, Any], Arrays]:
    """Return the classifier's data and arrays, out of the cache when the same texts and vectors were learned before."""
    resolved = embedded.described.scoped.resolved
    found = examples(resolved.capabilities)
    vectors = None if embedded.triggers is None else embedded.texts
    needs = shipped_needs() if vectors is not None and resolved.sources.discovered.settings.routing.needs else ()
    key = _key(found, needs, embedded.identity)
    cached = _from_cache(context.cache, key)
    if cached is not None:
        return cached
    context.progress(_WHAT, 0, 1)
    from octoc.compiler.calibrate.fit import fit_classifier
    from octoc.compiler.calibrate.matching import library_examples, match

    library: tuple[Example, ...] = ()
    matches: tuple[Match, ...] = ()
    if vectors is not None and needs:
        matches = match(resolved.capabilities, needs, vectors)
        library = tuple(library_examples(matches))
    data, arrays = fit_classifier(found, library, vectors, follow_up_lines())
    data["needs"] = {found.need.name: found.capability for found in matches if found.capability is not None}
    context.progress(_WHAT, 1, 1)
    for name, array in arrays.items():
        context.cache.put_array(KIND, cache_key(key, name), array)
    # Last, so that whoever finds it finds the arrays too.
    context.cache.put_json(KIND, key, {"data": data, "arrays": sorted(arrays)})
    return data, arrays


def _from_cache(cache: Cache, key: str) -> tuple[Mapping[str, Any], Arrays] | None:
    stored = cache.get_json(KIND, key)
    if not isinstance(stored, dict):
        return None
    arrays = {name: cache.get_array(KIND, cache_key(key, name)) for name in stored["arrays"]}
    whole = {name: array for name, array in arrays.items() if array is not None}
    return (stored["data"], whole) if len(whole) == len(arrays) else None


def _key(found: Sequence[Example], needs: Sequence[Need], identity: str) -> str:
    """Return the digest of all that shapes the classifier; the vectors are in it as the encoder's identity."""
    versions = [version(name) for name in ("numpy", "scikit-learn", "scipy")]
    texts = [[example.text, example.capability, example.weight] for example in (*found, *further_background())]
    library = [[need.name, need.about, *need.says] for need in needs]
    return cache_key(RECIPE, identity, versions, texts, library, list(follow_up_lines().items()))
