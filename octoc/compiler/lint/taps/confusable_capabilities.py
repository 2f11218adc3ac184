"""Capabilities that take each other's messages, told by the meaning of their own triggers. Only a build knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from octoc.compiler.lint.taps.lookup import SHOWN
from octoc.compiler.model.build import Build
from octoc.compiler.model.resolved import Capability
from octoc.compiler.model.source import Located
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_taps import RIVALS
from octoc.plugin.lint import lint_check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PENALTY = 1.0
"""Of the ridge regression that tells whose a trigger is."""

LEAD = 0.02
"""By so much of a score, 1 for what is certainly a capability's, another must be ahead: else a trigger is its own's."""

TAKEN = 0.3
FEWEST = 2
"""Two capabilities are rivals when of the triggers of one, or of both together, so large a share would go to the other:
and `FEWEST` at least."""


@attrs.frozen(kw_only=True)
class _Owned:
    trigger: Located[str]
    capability: Capability


@lint_check(RIVALS)
def check_rivals(build: Build, sink: DiagnosticSink) -> None:
    """Report two capabilities whose triggers win for each other when each is left out of what is learned, once a pair.

    Only those that some agent may choose between are rivals.
    """
    rows = build.embedded.triggers
    if build.calibrated.gate is None or rows is None:
        return
    capabilities = {capability.name: capability for capability in build.resolved.capabilities}
    owned = [_Owned(trigger=t, capability=c) for c in capabilities.values() for t in c.triggers]
    classes = sorted({one.capability.name for one in owned})
    if len(classes) < 2:
        return
    scopes = [frozenset(registry.capabilities) for registry in build.scoped.registries.values()]
    for (first, second), taken in _rivals(owned, _winners(rows, owned, classes)).items():
        if not any({first, second} <= scope for scope in scopes):
            continue
        one = max((first, second), key=lambda name: sum(each.capability.name == name for each in taken))
        other = second if one == first else first
        worst = next(each for each in taken if each.capability.name == one)
        sink.report(
            RIVALS,
            f"`{first}` and `{second}` are rivals: {len(taken)} of their "
            f"{len(capabilities[first].triggers) + len(capabilities[second].triggers)} triggers would go to the other",
            at=worst.trigger.place,
            related={f"the triggers of `{other}`": capabilities[other].triggers[0].place},
            notes=tuple(f"`{each.trigger.value}` of `{each.capability.name}`" for each in taken[:SHOWN]),
            help="say in the triggers of each what only it does, or leave these messages to one of them",
        )


def _rivals(owned: Sequence[_Owned], winners: Sequence[str]) -> Mapping[tuple[str, str], list[_Owned]]:
    """Return for each pair, sorted, the triggers of either that the other would win."""
    taken: dict[tuple[str, str], list[_Owned]] = {}
    for each, winner in zip(owned, winners, strict=True):
        if winner != each.capability.name:
            pair = (min(winner, each.capability.name), max(winner, each.capability.name))
            taken.setdefault(pair, []).append(each)
    return {pair: found for pair, found in sorted(taken.items()) if _are_rivals(found)}


def _are_rivals(taken: Sequence[_Owned]) -> bool:
    by_owner: dict[str, list[_Owned]] = {}
    for each in taken:
        by_owner.setdefault(each.capability.name, []).append(each)
    shares = [len(found) / len(found[0].capability.triggers) for found in by_owner.values()]
    return len(taken) >= FEWEST and max(shares) >= TAKEN


def _winners(rows: NDArray[np.float32], owned: Sequence[_Owned], classes: Sequence[str]) -> list[str]:
    """Return whose each trigger would be if it were not known: leave-one-out of a ridge regression, in closed form.

    Takes a product of matrices and one inverse of the vectors' width, whatever the number of capabilities.
    """
    import numpy as np
    from threadpoolctl import threadpool_limits

    number = {name: place for place, name in enumerate(classes)}
    labels = np.array([number[one.capability.name] for one in owned])
    features = np.concatenate([rows - rows.mean(axis=0), np.ones((len(owned), 1), np.float32)], axis=1).astype(float)
    # By one thread, as calibration is: the same input gives the same bits, and on a busy machine several threads, which
    # wait for each other at every step of the inverse of so small a matrix, take ten times as long.
    with threadpool_limits(limits=1, user_api="blas"):
        gram = features.T @ features
        # The last column is the mean of the classes, and is not to be small.
        gram[np.diag_indices_from(gram)] += [*[PENALTY] * (features.shape[1] - 1), 1e-9]
        projected = features @ np.linalg.inv(gram)
    targets = np.zeros((len(owned), len(classes)))
    targets[np.arange(len(owned)), labels] = 1.0
    leverage = np.einsum("nd,nd->n", projected, features)[:, None]
    left_out = (projected @ (features.T @ targets) - leverage * targets) / (1 - leverage)
    # Without a trigger its own class is the smaller by one: what says nothing of either must not count against it.
    left_out -= (targets.sum(axis=0) - targets) / (len(owned) - 1)
    left_out[np.arange(len(owned)), labels] += LEAD
    return [classes[place] for place in left_out.argmax(axis=1)]
