"""Deciding which capability a message is for. Loads numpy, the gate and the encoder when the first message asks."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from octoc.lists import name_list
from octoc.runtime.activation.eviction import fit_together, making_room, no_room
from octoc.runtime.values import Routing

if TYPE_CHECKING:
    from octoc.bundle.model import CapabilityEntry
    from octoc.plugin import Embedder
    from octoc.plugin.protocols import Vector
    from octoc.routing.decision import Decision, Reason
    from octoc.routing.router import Router
    from octoc.runtime.loaded_bundle import Generation
    from octoc.runtime.session import Session

logger = logging.getLogger("octoc.runtime")

NO_GATE = "no-gate"
"""The bundle has no gate, as no capability in it has anything that a message could be held against."""

MAX_TURNS = 3
"""How many of the user's earlier messages are looked at, as long as each of them goes on with the one before it."""

_MEMO = 64
"""Of so many texts the vector is remembered: the gate, the rules of skills and the next messages ask for the same."""

_NOBODY: Mapping[str, tuple[Reason, str]] = MappingProxyType({})


class EncoderUnavailable(Exception):  # noqa: N818  # a state of the installation, not a fault in the program
    """There is no encoder that makes vectors like the bundle's, or it failed on a text; the message says why."""


class RoutingParts:
    """The encoder and the gate of one bundle, made once, whichever thread asks first."""

    def __init__(self, generation: Generation, embedder: Embedder | None) -> None:
        self._generation = generation
        self._embedder = embedder
        self._router: Router | None = None
        self._problem: str | None = None
        self._failed = False
        self._vectors: dict[str, Vector] = {}
        self._lock = threading.Lock()

    def embedder(self) -> Embedder:
        """Return the encoder that the bundle's vectors were made with. Raises: EncoderUnavailable."""
        with self._lock:
            if self._embedder is None:
                if self._problem is None:
                    self._load_embedder()
                if self._embedder is None:
                    raise EncoderUnavailable(self._problem)
            return self._embedder

    def vector(self, text: str) -> Vector:
        """Return the vector of a text, encoded once of those that were asked for last; not to be written to.

        Raises: EncoderUnavailable.
        """
        found = self._vectors.get(text)
        if found is None:
            found = self.encode(text)
            with self._lock:
                while len(self._vectors) >= _MEMO:
                    del self._vectors[next(iter(self._vectors))]
                self._vectors[text] = found
        return found

    def encode(self, text: str) -> Vector:
        """Return the vector of a text. Raises: EncoderUnavailable, also where the encoder fails on this text alone."""
        embedder = self.embedder()
        try:
            return embedder.embed(text)
        except Exception as error:  # noqa: BLE001  # a plugin's own fault, of whatever type, must not end a session
            from octoc.plain_text import because
            from octoc.plugin import PluginError

            problem = f": {error}" if isinstance(error, PluginError) else because(error)
        problem = f"the encoder `{embedder.name}` failed{problem}"
        if not self._failed:
            # Once: what cannot be opened fails on every message.
            self._failed = True
            logger.warning("words alone have to do: %s", problem)
        raise EncoderUnavailable(problem)

    def embedder_like(self, identity: str) -> Embedder | None:
        """Return the encoder if it has been made and has this identity, for another bundle of the same encoder."""
        made = self._embedder
        return made if made is not None and made.identity == identity else None

    def _load_embedder(self) -> None:
        encoder = self._generation.bundle.encoder
        if encoder is None:
            self._problem = "the bundle was built without an encoder"
            return
        from octoc.plugin import PluginError
        from octoc.plugin.folders import located

        files = self._generation.opened.encoder_files() or None
        try:
            made = self._generation.plugins.make_embedder(
                encoder.name, located(encoder.settings, self._generation.workspace), files
            )
        except PluginError as error:
            self._problem = str(error)
            return
        if made is None:
            self._problem = f"no installed plugin makes the encoder `{encoder.name}`"
        elif made.identity != encoder.identity:
            # Vectors of two encoders compare to nothing: abstaining is right, guessing is not.
            self._problem = f"the installed encoder `{encoder.name}` is not the one that the bundle was built with"
        else:
            self._embedder = made

    def router(self) -> Router | None:
        """Return the bundle's gate, ready to decide; None when it has none."""
        made = self._router
        if made is not None:
            return made
        from octoc.routing.router import load_router

        with self._lock:
            bundle, opened = self._generation.bundle, self._generation.opened
            if self._router is None and bundle.gate is not None:
                arrays = {name: opened.array(f"gate/{name}") for name in bundle.gate.arrays}
                self._router = load_router(bundle.gate, arrays, self.triggers(), bundle.capabilities)
            return self._router

    def triggers(self) -> Vector:
        """Return the triggers' vectors, shape (n, d); no rows when the bundle has none."""
        import numpy as np

        opened = self._generation.opened
        empty: Vector = np.zeros((0, 1), np.float32)
        return opened.array("triggers") if opened.has_array("triggers") else empty


def held_of(session: Session) -> dict[str, tuple[Reason, str]]:
    """Return the capabilities in scope that a message cannot activate now: name -> why, in one word and in words.

    They take part all the same, so that a message about one of them does not fall to a sibling.
    """
    from octoc.routing.decision import Reason

    found: dict[str, tuple[Reason, str]] = {}
    for name, entry in session.surface.entries.items():
        missing = session.runtime.missing_env(entry)
        if name in session.active:
            found[name] = Reason.ALREADY_ACTIVE, f"`{name}` is active"
        elif name in session.surface.registry.boot:
            found[name] = Reason.GRANTED, f"the agent has `{name}` from the start"
        elif missing:
            found[name] = Reason.NOT_READY, f"`{name}` needs {name_list(missing)} to be set"
        elif _brings_nothing(session, entry):
            found[name] = Reason.NOT_READY, f"`{name}` brings no tool here: nothing serves its servers"
        elif making_room(session, name) is None:
            found[name] = Reason.NO_ROOM, no_room(session, name).rstrip(".")
    return found


def candidates_of(session: Session, held: Collection[str]) -> tuple[str, ...]:
    """Return the capabilities that a message may activate now: those in scope that are not `held`."""
    return tuple(name for name in session.surface.switchable if name not in held)


def fitting(session: Session, routing: Routing) -> Routing:
    """Return a decision without what has no room beside the first capability: a message evicts nothing of its own."""
    if routing.capability is None or not routing.also:
        return routing
    kept = [routing.capability]
    for name in routing.also:
        if fit_together(session, (*kept, name)):
            kept.append(name)
    return attrs.evolve(routing, also=tuple(kept[1:]))


def _brings_nothing(session: Session, entry: CapabilityEntry) -> bool:
    # A capability whose only servers are builtin and unbound would push out another one and bring no tool.
    if not entry.grants:
        return not entry.deps
    return not any(session.generation.can_connect(grant.server) for grant in entry.grants)


def decide(
    generation: Generation,
    text: str,
    candidates: Sequence[str],
    held: Mapping[str, tuple[Reason, str]] = _NOBODY,
    before: Sequence[str] = (),
) -> Routing:
    """Decide which of `candidates` a message is for; changes nothing. May take as long as loading the encoder.

    Args:
        held: who else takes part and is not activated when it wins, as `held_of` returns it.
        before: the user's earlier messages, the oldest first: a message that is for nobody by itself, and goes on with
            what was asked before, is for whom that was for, or is decided together with it where that was for nobody.
    """
    router = generation.routing.router()
    if router is None:
        from octoc.routing.clean import clean_intent

        return Routing(capability=None, reason=NO_GATE, intent=clean_intent(text))
    intent = router.clean(text)
    attempt = _Attempt(generation, router, candidates, {name: reason for name, (reason, _) in held.items()})
    decision, vector = attempt.decide(intent)
    follows = False
    if before and decision.winner is None and router.goes_on(intent, vector):
        for turn in list(reversed(before))[:MAX_TURNS]:
            earlier = router.clean(turn)
            there, of_earlier = attempt.decide(earlier)
            if there.winner is None:
                there, _ = attempt.decide(f"{earlier}\n{intent}")
            if there.winner is not None:
                decision, follows = there, True
            if follows or not router.goes_on(earlier, of_earlier):
                break
    if router.most > 1:
        decision = attempt.by_clauses("" if follows else intent, decision)
    why_held = "" if decision.winner is None or decision.capability else held.get(decision.winner, ("", ""))[1]
    detail = f": {why_held}" if why_held else ""
    if attempt.problem and (router.uses_vector or router.needs_vector):
        detail += f": {attempt.problem}" if router.needs_vector else f", by words alone: {attempt.problem}"
    elif not router.uses_vector and decision.scores:
        detail += ", by words alone: the bundle was built without an encoder"
    return Routing(
        capability=decision.capability,
        also=decision.also,
        winner=decision.winner,
        scores=decision.scores,
        background=decision.background,
        threshold=decision.threshold,
        margin=decision.margin,
        reason=f"{decision.reason}{detail}",
        intent=intent,
        method=decision.method.value,
        follows=follows,
    )


class _Attempt:
    """Decides texts for one message of one session, and keeps why there is no encoder."""

    def __init__(
        self, generation: Generation, router: Router, candidates: Sequence[str], held: Mapping[str, Reason]
    ) -> None:
        self._generation, self._router, self._candidates, self._held = generation, router, candidates, held
        self.problem = ""

    def decide(self, intent: str) -> tuple[Decision, Vector | None]:
        # The encoder is not loaded for a message that no gate would look at.
        vector = self.vector(intent) if self._router.wants_vector(intent, self._candidates, self._held) else None
        return self._router.decide(intent, vector, self._candidates, self._held), vector

    def by_clauses(self, intent: str, whole: Decision) -> Decision:
        """Return what a message activates whose parts may each be for another capability; of one part, one."""
        from octoc.routing.gate import of_clauses
        from octoc.search.words import clauses

        parts = clauses(intent)
        decided = [self.decide(part)[0] for part in parts] if len(parts) > 1 else []
        return of_clauses(whole, decided, self._held, self._router.most)

    def vector(self, intent: str) -> Vector | None:
        if not self._router.uses_vector:
            return None
        try:
            return self._generation.routing.vector(intent)
        except EncoderUnavailable as error:
            self.problem = str(error)
            return None


def discover_scores(generation: Generation, intent: str, names: Sequence[str]) -> dict[str, float]:
    """Return the mean of the three highest cosines between `intent` and each capability's triggers, 0 without any.

    Raises: EncoderUnavailable.
    """
    from octoc.routing.scores import capability_scores

    vector = generation.routing.vector(intent)
    rows = [generation.capabilities[name].rows for name in names]
    scores = capability_scores(vector, generation.routing.triggers(), rows)
    return dict(zip(names, (float(score) for score in scores), strict=True))
