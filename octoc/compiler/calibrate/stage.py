"""Stage calibrate: from vectors to the gate of the bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from octoc.bundle.model import Gate
from octoc.compiler.cache import Cache, cache_key
from octoc.compiler.calibrate.texts import Example, examples
from octoc.compiler.context import Context
from octoc.compiler.model.resolved import Calibrated, Embedded
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.diagnostics.rules.plugin import GATE_SETTING_UNUSED
from octoc.routing.gate import ARRAYS, CALIBRATED_THRESHOLD, OCTOMIND_MARGIN, OCTOMIND_THRESHOLD

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Arrays = Mapping[str, NDArray[np.generic]]

KIND = "gate"
_WHAT = "calibrating the gate"
RECIPE = 1
"""Counts changes of how the gate is learned, so that no cache brings an older one back."""


def calibrate(embedded: Embedded, context: Context) -> Calibrated:
    """Make the gate that the workspace names; None where there are no vectors to decide by."""
    resolved = embedded.described.scoped.resolved
    settings = resolved.sources.discovered.settings
    routing = settings.routing
    if embedded.triggers is None:
        return Calibrated(embedded=embedded)
    if routing.gate == "octomind":
        gate = Gate(
            kind="octomind",
            threshold=OCTOMIND_THRESHOLD if routing.threshold is None else routing.threshold,
            margin=OCTOMIND_MARGIN if routing.margin is None else routing.margin,
            top_k=routing.top_k,
        )
        return Calibrated(embedded=embedded, gate=gate)
    _report_unused(settings, context)
    data, arrays = _learned(examples(resolved.capabilities), embedded, context)
    gate = Gate(kind="calibrated", threshold=CALIBRATED_THRESHOLD, data=data, arrays=tuple(sorted(arrays)))
    return Calibrated(embedded=embedded, gate=gate, arrays=arrays)


def _report_unused(settings: WorkspaceSettings, context: Context) -> None:
    for name in ("threshold", "margin"):
        if getattr(settings.routing, name) is not None:
            context.sink.report(
                GATE_SETTING_UNUSED,
                f"`{name}` belongs to the gate `octomind`, and has no effect on `{settings.routing.gate}`",
                at=settings.place.child("routing", name),
                help='remove it, or set `gate = "octomind"` under `[routing]`',
            )


def _learned(
    found: Sequence[Example], embedded: Embedded, context: Context
) -> tuple[Mapping[str, Sequence[str]], Arrays]:
    """Return the classifier's data and arrays, out of the cache when the same texts and vectors were learned before."""
    key = _key(found, embedded.identity)
    cached = _from_cache(context.cache, key)
    if cached is not None:
        return cached
    context.progress(_WHAT, 0, 1)
    from octoc.compiler.calibrate.fit import fit_classifier

    data, arrays = fit_classifier(found, embedded.texts)
    context.progress(_WHAT, 1, 1)
    for name, array in arrays.items():
        context.cache.put_array(KIND, cache_key(key, name), array)
    # Last, so that whoever finds it finds the arrays too.
    context.cache.put_json(KIND, key, data)
    return data, arrays


def _from_cache(cache: Cache, key: str) -> tuple[Mapping[str, Sequence[str]], Arrays] | None:
    data = cache.get_json(KIND, key)
    if data is None:
        return None
    arrays = {name: cache.get_array(KIND, cache_key(key, name)) for name in ARRAYS}
    whole = {name: array for name, array in arrays.items() if array is not None}
    return (data, whole) if len(whole) == len(arrays) else None


def _key(found: Sequence[Example], identity: str) -> str:
    """Return the digest of all that shapes the classifier; the vectors are in it as the encoder's identity."""
    versions = [version(name) for name in ("numpy", "scikit-learn", "scipy")]
    return cache_key(
        RECIPE, identity, versions, [[example.text, example.capability, example.weight] for example in found]
    )
