"""A session's decision on a message, with the reasons for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from octoc.runtime.activation.encoder import EncoderUnavailableError
from octoc.runtime.activation.route import candidates_of, held_of, route
from octoc.runtime.values import Routing

if TYPE_CHECKING:
    from octoc.plugin.protocols import Vector
    from octoc.routing.explain import DecisionInputs, Explanation
    from octoc.routing.router import Router
    from octoc.runtime.state import SessionState


def explain_route(
    session: SessionState, text: str, before: Sequence[str] | None = None
) -> tuple[Routing, Explanation | None]:
    """Return the decision of `route`, and the reasons; None without a gate. Changes nothing.

    Raises: BundleFileError.
    """
    routing = route(session, text, before)
    router = session.loaded.routing.router()
    if router is None:
        return routing, None
    from octoc.routing.explain import explain
    from octoc.routing.follow_up import earlier_texts

    field = _field(session, router, routing.intent)
    scored = routing.intent
    if routing.follows:
        # The scored text is the earlier message that decided it, or that one followed by this one.
        turns = [router.clean(turn) for turn in before or ()]
        tried = (text for texts in earlier_texts(routing.intent, turns) for text in texts)
        best = routing.scores.get(routing.winner or "")
        scored = next((text for text in tried if field.decide(text).scores.get(routing.winner or "") == best), scored)
    return routing, explain(scored, field)


def _field(session: SessionState, router: Router, intent: str) -> DecisionInputs:
    from octoc.routing.explain import DecisionInputs

    parts = session.loaded.routing
    held = {name: reason for name, (reason, _) in held_of(session).items()}

    def embed(text: str) -> Vector | None:
        try:
            return parts.encode(text)
        except EncoderUnavailableError:
            return None

    return DecisionInputs(
        router=router,
        capabilities=session.loaded.capabilities,
        triggers=parts.triggers(),
        candidates=candidates_of(session, held),
        held=held,
        embed=embed if router.uses_vector and embed(intent) is not None else None,
    )
