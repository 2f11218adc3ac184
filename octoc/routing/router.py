"""What the runtime asks: a bundle's gate, made ready to decide messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from octoc.bundle.model import CapabilityEntry, Gate
from octoc.routing.classifier import Classifier
from octoc.routing.clean import clean_intent, is_routable
from octoc.routing.decision import Decision, Method, Reason
from octoc.routing.gate import NONE_HELD, calibrated_gate, octomind_gate
from octoc.routing.scores import capability_scores

Vector = NDArray[np.float32]
Judge = Callable[[str, Vector | None, Sequence[str], Mapping[str, Reason]], Decision]

_MEMO = 64

FOLLOWS = 0.3
"""The probability from which on a message counts as going on with an earlier one."""


@attrs.define(kw_only=True, eq=False)
class Router:
    """Decides messages. Has no state: the same arguments give the same decision.

    `judge` is the gate's own part: (intent, its vector, competitors sorted by name, who of them is held) -> decision.
    `classifier` is the calibrated gate's.
    """

    gate: Gate
    judge: Judge
    classifier: Classifier | None = None
    _memo: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = attrs.field(
        factory=dict, init=False, repr=False
    )

    @property
    def needs_vector(self) -> bool:
        """Whether nothing can be decided without an encoder."""
        return self.classifier is None or self.classifier.words is None

    @property
    def uses_vector(self) -> bool:
        """Whether an encoder would be of use; it is of none for a bundle that was built without."""
        return self.classifier is None or self.classifier.full is not None

    @property
    def keeps_pasted(self) -> bool:
        """Whether pasted text is scored too: Octomind's own gate strips XML blocks alone."""
        return self.gate.kind == "octomind"

    def clean(self, message: str) -> str:
        """Return what of a message is scored."""
        return clean_intent(message, pasted=self.keeps_pasted)

    def wants_vector(self, intent: str, candidates: Collection[str], held: Collection[str]) -> bool:
        """Tell whether `decide` would look at the intent's vector."""
        return self.uses_vector and bool(candidates or held) and is_routable(intent)

    def decide(
        self, intent: str, vector: Vector | None, candidates: Collection[str], held: Mapping[str, Reason] = NONE_HELD
    ) -> Decision:
        """Decide one message; `max_per_message` capabilities are activated at most, one by default.

        Args:
            intent: the message, cleaned by `clean_intent`.
            vector: the embedding of exactly that text, shape (d,), or None when there is no encoder.
            candidates: capabilities in scope that can be activated.
            held: others in scope that take part, and why nothing is activated when they win. With Octomind's gate, only
            those that are granted at boot take part.
        """
        if not is_routable(intent):
            return self._abstain(Reason.TOO_SHORT)
        if self.classifier is None:
            held = {name: reason for name, reason in held.items() if reason is Reason.GRANTED}
        if not candidates and not held:
            return self._abstain(Reason.NO_CANDIDATES)
        if vector is None and self.needs_vector:
            return self._abstain(Reason.NO_ENCODER)
        return self.judge(intent, vector, self._competitors(tuple(candidates), tuple(held)), held)

    def _competitors(self, candidates: tuple[str, ...], held: tuple[str, ...]) -> tuple[str, ...]:
        found = self._memo.get((candidates, held))
        if found is None:
            found = tuple(sorted({*candidates, *held}))
            # A session asks for the same few sets of names again and again.
            if len(self._memo) >= _MEMO:
                self._memo.clear()
            self._memo[candidates, held] = found
        return found

    @property
    def most(self) -> int:
        """How many capabilities one message may activate."""
        return int(self.gate.data.get("max_per_message", 1))

    def goes_on(self, intent: str, vector: Vector | None) -> bool:
        """Tell whether a message goes on with an earlier one, where the bundle's gate looks at earlier ones."""
        follows = self.classifier is not None and bool(self.gate.data.get("follow_ups"))
        return follows and self.classifier is not None and self.classifier.goes_on(intent, vector) >= FOLLOWS

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
        classifier = Classifier.of(gate.data, arrays)
        return Router(gate=gate, judge=_calibrated(gate, classifier), classifier=classifier)
    raise ValueError(f"gate `{gate.kind}` is not known to this version of octoc, expected `calibrated` or `octomind`")


def _octomind(gate: Gate, triggers: NDArray[np.float32], capabilities: Sequence[CapabilityEntry]) -> Judge:
    rows = {entry.name: entry.rows for entry in capabilities}

    def judge(_: str, vector: Vector | None, names: Sequence[str], held: Mapping[str, Reason]) -> Decision:
        if vector is None:
            raise ValueError("the octomind gate needs the message's vector")
        wanted = [rows.get(name, (0, 0)) for name in names]
        scores = capability_scores(vector, triggers, wanted, gate.top_k).tolist()
        return octomind_gate(dict(zip(names, scores, strict=True)), gate.threshold, gate.margin, held)

    return judge


def _calibrated(gate: Gate, classifier: Classifier) -> Judge:
    def judge(intent: str, vector: Vector | None, names: Sequence[str], held: Mapping[str, Reason]) -> Decision:
        words = vector is None or classifier.full is None
        probabilities, background = classifier.probabilities(intent, vector, names)
        return calibrated_gate(
            probabilities,
            background,
            float(gate.data.get("words_threshold", gate.threshold)) if words else gate.threshold,
            held,
            most=int(gate.data.get("max_per_message", 1)),
            method=Method.WORDS if words else Method.VECTORS,
        )

    return judge
