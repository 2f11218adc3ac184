"""Decide which capability a message is for. The first message loads numpy, the gate and the encoder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from octoc.lists import name_list
from octoc.runtime.activation.encoder import EncoderUnavailableError
from octoc.runtime.activation.eviction import evictions_for, fit_together, no_room
from octoc.runtime.activation.suggestion import suggesting
from octoc.runtime.state import MAX_TURNS, SessionState
from octoc.runtime.values import Routing

if TYPE_CHECKING:
    from octoc.bundle.model import CapabilityEntry
    from octoc.plugin.protocols import Vector
    from octoc.routing.decision import Decision, Reason
    from octoc.routing.router import Router
    from octoc.runtime.loaded_bundle import LoadedBundle

NO_GATE = "no-gate"
"""The bundle has no gate, as none of its capabilities has triggers."""

_NONE_HELD: Mapping[str, tuple[Reason, str]] = MappingProxyType({})


def route(session: SessionState, text: str, before: Sequence[str] | None = None) -> Routing:
    """Decide which capability a user's message is for; changes nothing.

    Args:
        before: the user's earlier messages, the oldest first; None takes those of the session.
    """
    turns = tuple(session.turns) if before is None else before
    held = held_of(session)
    return delivered(session, decide(session.loaded, text, candidates_of(session, held), held, turns))


def held_of(session: SessionState) -> dict[str, tuple[Reason, str]]:
    """Return the capabilities in scope that a message cannot activate now: name -> the reason and its text.

    They still compete, so that a message about one of them does not go to a similar capability.
    """
    from octoc.routing.decision import Reason

    held: dict[str, tuple[Reason, str]] = {}
    for name, entry in session.tools.entries.items():
        missing = session.runtime.variables.missing(entry)
        if name in session.active:
            held[name] = Reason.ALREADY_ACTIVE, f"`{name}` is active"
        elif name in session.tools.registry.boot:
            held[name] = Reason.GRANTED, f"the agent has `{name}` from the start"
        elif missing:
            held[name] = Reason.NOT_READY, f"`{name}` needs {name_list(missing)} to be set"
        elif _brings_nothing(session, entry):
            held[name] = Reason.NOT_READY, _why_nothing(name, entry)
        elif evictions_for(session, name) is None:
            held[name] = Reason.NO_ROOM, no_room(session, name).rstrip(".")
    return held


def candidates_of(session: SessionState, held: Collection[str]) -> tuple[str, ...]:
    """Return the capabilities that a message may activate now: those in scope that are not `held`."""
    return tuple(name for name in session.tools.switchable if name not in held)


def delivered(session: SessionState, routing: Routing) -> Routing:
    """Return a decision as this session takes it: what it can activate together, or what it suggests to the model."""
    return suggesting(session, routing) if routing.suggested else _fitting(session, routing)


def _fitting(session: SessionState, routing: Routing) -> Routing:
    """Return a decision without capabilities that do not fit beside the first, as a message evicts none of its own."""
    if routing.capability is None or not routing.also:
        return routing
    kept = [routing.capability]
    for name in routing.also:
        if fit_together(session, (*kept, name)):
            kept.append(name)
    return attrs.evolve(routing, also=tuple(kept[1:]))


def _why_nothing(name: str, entry: CapabilityEntry) -> str:
    from octoc.runtime.servers.bindings import unbound

    servers = tuple(dict.fromkeys(grant.server for grant in entry.grants))
    why = unbound(*servers) if servers else "it grants no tool"
    return f"`{name}` brings no tool here: {why}"


def _brings_nothing(session: SessionState, entry: CapabilityEntry) -> bool:
    # A capability with only unbound builtin servers would evict another one and bring no tool.
    if not entry.grants:
        return not entry.deps
    return not any(session.loaded.can_connect(grant.server) for grant in entry.grants)


def decide(
    loaded: LoadedBundle,
    text: str,
    candidates: Sequence[str],
    held: Mapping[str, tuple[Reason, str]] = _NONE_HELD,
    before: Sequence[str] = (),
) -> Routing:
    """Decide which of `candidates` a message is for; changes nothing. May take as long as loading the encoder.

    Args:
        held: further competitors, which are not activated if they win, as `held_of` returns them.
        before: the user's earlier messages, the oldest first. A message that has no winner and continues an earlier
            one gets the winner of that one, or of both together if that is surer.
    """
    from octoc.routing.clean import MAX_INTENT_CHARS, clean_intent, clipped

    router = loaded.routing.router()
    if router is None:
        return Routing(capability=None, reason=NO_GATE, intent=clean_intent(text))
    cleaned = router.clean_message(text)
    intent = clipped(cleaned, MAX_INTENT_CHARS)
    attempt = _Attempt(loaded, router, candidates, {name: reason for name, (reason, _) in held.items()})
    decision, vector = attempt.decide(intent)
    if decision.winner is None and vector is not None and router.reads_sentences:
        intent, decision = attempt.by_sentences(cleaned) or (intent, decision)
    follows = False
    if before and decision.winner is None and router.reads_earlier and attempt.goes_on(intent, vector):
        earlier = attempt.with_earlier(intent, before[-MAX_TURNS:])
        decision, follows = earlier or decision, earlier is not None
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
        suggested=() if decision.winner else attempt.suggested(intent, decision),
    )


class _Attempt:
    """Decides texts for one message of one session, and records why there is no encoder."""

    def __init__(
        self, loaded: LoadedBundle, router: Router, candidates: Sequence[str], held: Mapping[str, Reason]
    ) -> None:
        self._loaded, self._router, self._candidates, self._held = loaded, router, candidates, held
        self._asking: dict[str, Decision] = {}
        self._sentences = 0
        self.problem = ""

    def decide(self, intent: str, *, follows: bool = False) -> tuple[Decision, Vector | None]:
        script = self._router.foreign_script(intent)
        if script:
            self.problem = f"the encoder does not cover text in {script}"
        # The encoder is not loaded for a message that the gate does not score.
        vector = self.vector(intent) if self._router.wants_vector(intent, self._candidates, self._held) else None
        return self._router.decide(intent, vector, self._candidates, self._held, follows=follows), vector

    def goes_on(self, intent: str, vector: Vector | None) -> bool:
        """Return whether a message continues an earlier one, which it may do in too few letters to be routed."""
        if vector is None and intent and not self._router.foreign_script(intent):
            vector = self.vector(intent)
        return self._router.goes_on(intent, vector)

    def with_earlier(self, intent: str, before: Sequence[str]) -> Decision | None:
        """Return the decision of the latest earlier message that has a winner, by itself or with all after it."""
        from octoc.routing.follow_up import earlier_texts

        for texts in earlier_texts(intent, [self._router.clean(turn) for turn in before]):
            found = _surest(self.decide(text, follows=True)[0] for text in texts)
            if found is not None:
                return found
        return None

    def by_sentences(self, text: str) -> tuple[str, Decision] | None:
        """Return the sentence of a long message that activates something, and its decision; None without one."""
        from octoc.routing.windows import windows

        sentences = windows(text)
        vectors = ((sentence, self.vector(sentence)) for sentence in sentences)
        asking = self._router.asking({sentence: vector for sentence, vector in vectors if vector is not None})
        self._asking, self._sentences = {sentence: self.decide(sentence)[0] for sentence in asking}, len(sentences)
        found = _surest(self._asking.values())
        return next(((sentence, found) for sentence, decision in self._asking.items() if decision is found), None)

    def suggested(self, intent: str, decision: Decision) -> tuple[str, ...]:
        """Return what to suggest for a message that activates nothing, or for the sentence of it that asks most."""
        if self._sentences and not self._asking:
            return ()
        text, decided = next(iter(self._asking.items()), (intent, decision))
        vector = self.vector(text) if decided.scores and not self._router.foreign_script(text) else None
        if vector is None:
            return ()
        return self._router.suggested(decided, text, vector, self._candidates, self._held, self._sentences or 1)

    def by_clauses(self, intent: str, whole: Decision) -> Decision:
        """Return the decision on a message whose clauses may be for different capabilities."""
        from octoc.routing.gate import of_clauses
        from octoc.search.words import clauses

        parts = clauses(intent)
        decided = [self.decide(part)[0] for part in parts] if len(parts) > 1 else []
        return of_clauses(whole, decided, self._held, self._router.most)

    def vector(self, intent: str) -> Vector | None:
        if not self._router.uses_vector:
            return None
        try:
            return self._loaded.routing.vector(intent)
        except EncoderUnavailableError as error:
            self.problem = str(error)
            return None


def _surest(decisions: Iterable[Decision]) -> Decision | None:
    """Return the decision whose winner has the highest score, the first of equal ones; None without a winner."""
    won = [decision for decision in decisions if decision.winner is not None]
    return max(won, key=lambda decision: decision.scores[decision.winner or ""], default=None)


def discover_scores(loaded: LoadedBundle, intent: str, names: Sequence[str]) -> dict[str, float]:
    """Return the mean of the three highest cosines between `intent` and each capability's triggers, 0 without any.

    Raises: EncoderUnavailableError.
    """
    from octoc.routing.scores import capability_scores

    vector = loaded.routing.vector(intent)
    rows = [loaded.capabilities[name].rows for name in names]
    scores = capability_scores(vector, loaded.routing.triggers(), rows)
    return dict(zip(names, (float(score) for score in scores), strict=True))
