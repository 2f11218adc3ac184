"""What the runtime asks: a bundle's gate, made ready to decide messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.bundle.model import CapabilityEntry, Gate
from octoc.routing.classifier import Classifier
from octoc.routing.clean import is_routable
from octoc.routing.decision import Decision, Reason
from octoc.routing.gate import calibrated_gate, octomind_gate
from octoc.routing.scores import capability_scores

Vector = NDArray[np.float32]


@attrs.frozen(kw_only=True, eq=False)
class Router:
    """Decides messages. Has no state: the same arguments give the same decision.

    `judge` is the gate's own part: (intent, its vector, candidates sorted by name) -> decision.
    """

    gate: Gate
    judge: Callable[[str, Vector, Sequence[str]], Decision]

    def decide(self, intent: str, vector: Vector | None, candidates: Collection[str]) -> Decision:
        """Decide one message; at most one capability is activated.

        Args:
            intent: the message, cleaned by `clean_intent`.
            vector: the embedding of exactly that text, shape (d,), or None when there is no encoder.
            candidates: capabilities in scope that are not active and whose needs are met.
        """
        if not is_routable(intent):
            return self._abstain(Reason.TOO_SHORT)
        if not candidates:
            return self._abstain(Reason.NO_CANDIDATES)
        if vector is None:
            return self._abstain(Reason.NO_ENCODER)
        return self.judge(intent, vector, sorted(set(candidates)))

    def _abstain(self, reason: Reason) -> Decision:
        return Decision(capability=None, reason=reason, threshold=self.gate.threshold, margin=self.gate.margin)


def load_router(
    gate: Gate,
    arrays: Mapping[str, NDArray[np.generic]],
    triggers: NDArray[np.float32],
    capabilities: Sequence[CapabilityEntry],
) -> Router:
    """Make the router of a bundle.

    Args:
        gate: the bundle's gate.
        arrays: the gate's arrays, by the names in `gate.arrays`.
        triggers: shape (n, d), the member `triggers.npy`.
        capabilities: the bundle's, whose `rows` are in `triggers`.

    Raises: ValueError when the gate's kind is unknown, or its arrays do not fit each other.
    """
    if gate.kind == "octomind":
        return Router(gate=gate, judge=_octomind(gate, triggers, capabilities))
    if gate.kind == "calibrated":
        return Router(gate=gate, judge=_calibrated(gate, arrays))
    raise ValueError(f"gate `{gate.kind}` is not known to this version of octoc, expected `calibrated` or `octomind`")


def _octomind(
    gate: Gate, triggers: NDArray[np.float32], capabilities: Sequence[CapabilityEntry]
) -> Callable[[str, Vector, Sequence[str]], Decision]:
    rows = {entry.name: entry.rows for entry in capabilities}

    def judge(_: str, vector: Vector, candidates: Sequence[str]) -> Decision:
        wanted = [rows.get(name, (0, 0)) for name in candidates]
        scores = capability_scores(vector, triggers, wanted, gate.top_k).tolist()
        return octomind_gate(dict(zip(candidates, scores, strict=True)), gate.threshold, gate.margin)

    return judge


def _calibrated(
    gate: Gate, arrays: Mapping[str, NDArray[np.generic]]
) -> Callable[[str, Vector, Sequence[str]], Decision]:
    classifier = Classifier.of(gate.data, arrays)

    def judge(intent: str, vector: Vector, candidates: Sequence[str]) -> Decision:
        probabilities, background = classifier.probabilities(intent, vector, candidates)
        return calibrated_gate(probabilities, background, gate.threshold)

    return judge
