"""A rule over capabilities whose triggers have so similar a meaning that each takes the other's messages.

It needs the vectors of the triggers, which only a build has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from octoc.compiler.lint.taps.lookup import SHOWN
from octoc.compiler.model.build import Build
from octoc.compiler.model.located import Located
from octoc.compiler.model.resolved import Capability
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.lint_taps import RIVALS
from octoc.plugin.lint import lint_check

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PENALTY = 1.0
"""The penalty of the ridge regression that predicts the capability of a trigger."""

LEAD = 0.02
"""Minimum lead of another capability's score over that of the trigger's own. A score is 1 for a certain match."""

MIN_SHARE = 0.3
"""Minimum share of one capability's triggers that the other capability takes."""
MIN_TRIGGERS = 2
"""Minimum number of triggers that the two capabilities take from each other."""


@attrs.frozen(kw_only=True)
class _Trigger:
    text: Located[str]
    capability: Capability


@lint_check(RIVALS)
def check_confusable_capabilities(build: Build, sink: DiagnosticSink) -> None:
    """Report each pair of capabilities that take each other's triggers in leave-one-out predictions.

    A pair counts only if some agent may activate both.
    """
    rows = build.embedded.triggers
    if build.calibrated.gate is None or rows is None:
        return
    capabilities = {capability.name: capability for capability in build.resolved.capabilities}
    triggers = [_Trigger(text=text, capability=c) for c in capabilities.values() for text in c.triggers]
    classes = sorted({trigger.capability.name for trigger in triggers})
    if len(classes) < 2:
        return
    scopes = [frozenset(registry.capabilities) for registry in build.scoped.registries.values()]
    for (first, second), taken in _confusable_pairs(triggers, _predictions(rows, triggers, classes)).items():
        if not any({first, second} <= scope for scope in scopes):
            continue
        one = max((first, second), key=lambda name: sum(trigger.capability.name == name for trigger in taken))
        other = second if one == first else first
        worst = next(trigger for trigger in taken if trigger.capability.name == one)
        sink.report(
            RIVALS,
            f"`{first}` and `{second}` are rivals: {len(taken)} of their "
            f"{len(capabilities[first].triggers) + len(capabilities[second].triggers)} triggers would go to the other",
            at=worst.text.place,
            related={f"the triggers of `{other}`": capabilities[other].triggers[0].place},
            notes=tuple(f"`{trigger.text.value}` of `{trigger.capability.name}`" for trigger in taken[:SHOWN]),
            help="write in the triggers of each what only it does, or leave these messages to one of them",
        )


def _confusable_pairs(
    triggers: Sequence[_Trigger], predictions: Sequence[str]
) -> Mapping[tuple[str, str], list[_Trigger]]:
    """Return (name, later name) -> the triggers of either that the other takes, sorted by the names."""
    pairs: dict[tuple[str, str], list[_Trigger]] = {}
    for trigger, predicted in zip(triggers, predictions, strict=True):
        own = trigger.capability.name
        if predicted != own:
            pairs.setdefault((min(predicted, own), max(predicted, own)), []).append(trigger)
    return {pair: taken for pair, taken in sorted(pairs.items()) if _is_confusable(taken)}


def _is_confusable(taken: Sequence[_Trigger]) -> bool:
    counts = Counter(trigger.capability.name for trigger in taken)
    shares = [counts[trigger.capability.name] / len(trigger.capability.triggers) for trigger in taken]
    return len(taken) >= MIN_TRIGGERS and max(shares) >= MIN_SHARE


def _predictions(rows: NDArray[np.float32], triggers: Sequence[_Trigger], classes: Sequence[str]) -> list[str]:
    """Return the capability that a ridge regression without a trigger predicts for it, for each trigger.

    The closed form needs a product of matrices and one inverse of the vectors' width, for any number of capabilities.
    """
    import numpy as np
    from threadpoolctl import threadpool_limits

    number = {name: place for place, name in enumerate(classes)}
    labels = np.array([number[trigger.capability.name] for trigger in triggers])
    count = len(triggers)
    features = np.concatenate([rows - rows.mean(axis=0), np.ones((count, 1), np.float32)], axis=1).astype(float)
    # One thread, as in calibration, makes the bits reproducible. Several threads would wait for each other at each
    # step of the inverse of so small a matrix and take ten times as long on a busy machine.
    with threadpool_limits(limits=1, user_api="blas"):
        gram = features.T @ features
        # No penalty on the last column, the mean of the classes.
        gram[np.diag_indices_from(gram)] += [*[PENALTY] * (features.shape[1] - 1), 1e-9]
        projected = features @ np.linalg.inv(gram)
    targets = np.zeros((count, len(classes)))
    targets[np.arange(count), labels] = 1.0
    leverage = np.einsum("nd,nd->n", projected, features)[:, None]
    left_out = (projected @ (features.T @ targets) - leverage * targets) / (1 - leverage)
    # Leaving a trigger out makes its own class smaller by one; a neutral text must not lose by that.
    left_out -= (targets.sum(axis=0) - targets) / (count - 1)
    left_out[np.arange(count), labels] += LEAD
    return [classes[place] for place in left_out.argmax(axis=1)]
