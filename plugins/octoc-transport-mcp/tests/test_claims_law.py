"""The law of claims: whatever the order of calls, answers and questions, a question is its own conversation's.

Over a pipe a question comes in order with the answers. Over HTTP it comes on the stream of its call, or on a stream of
its own, where it may arrive after the answer to its call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from octoc.plugin import Caller
from octoc_transport_mcp.claims import ELICITATION, QUESTIONS, ROOTS, SAMPLING, Claim, Claims, Owner

LIMIT_S = 30.0
CALLERS = (
    Caller(tenant="acme", session="one"),
    Caller(tenant="acme", session="two"),
    Caller(tenant="umbrella", session="one"),
    Caller(account="token"),
)
WAYS = ("in order", "carried", "beside")
Step = tuple[str, int, str, str]
"""What happens, to which caller or call, and of a question its method and its way."""


@attrs.define(eq=False)
class Running:
    """A call at the server."""

    number: int
    claim: Claim
    left_at: float | None = None


class Model:
    """What the server knows: which calls it works on, and for which of them it asks."""

    def __init__(self) -> None:
        self.now = 0.0
        self.claims = Claims(LIMIT_S, QUESTIONS, clock=lambda: self.now)
        self.running: list[Running] = []
        self.answered: list[Running] = []
        self.asked = False
        self.callers = set[Caller]()

    def step(self, number: int, step: Step) -> None:
        """Do one step and assert its effect."""
        what, which, method, way = step
        some = self.running[which % len(self.running)] if self.running else None
        if what == "call":
            one = Running(number, Claim(CALLERS[which % len(CALLERS)]))
            self.claims.open(number, one.claim)
            self.running.append(one)
            self.callers.add(one.claim.caller)
        elif what == "wait":
            self.now += LIMIT_S / 2
        elif some is not None and what == "answer":
            self.claims.answered(some.number)
            self.running.remove(some)
            self.answered.append(some)
        elif some is not None and what == "leave":
            self.claims.left(some.number)
            some.left_at = self.now
        elif what == "ask" and some is not None:
            self.ask(some, method, way)
        elif what == "ask late" and self.answered:
            self.ask(self.answered[which % len(self.answered)], method, "beside")
        assert self.claims.abandoned == any(one.left_at is not None for one in self.running)
        overdue = any(one.left_at is not None and self.now - one.left_at >= LIMIT_S for one in self.running)
        assert self.claims.stale == (self.asked and overdue)

    def ask(self, asker: Running, method: str, way: str) -> None:
        """Assert that the conversation of `asker` owns its question, or none does."""
        late = asker not in self.running
        self.asked = self.asked or way != "carried"
        self.claims.note_question("q", method, asker.number if way == "carried" else None, ordered=way != "beside")
        owner = self.claims.owner("q")
        assert self.claims.owner("q").claim is None, "a question is asked for twice"
        if way == "carried":
            assert owner.claim is asker.claim
            return
        beside = [one for one in self.running if one is not asker]
        if owner.claim is None:
            # Beside the answers it could be of a call that has been answered: then several conversations get none.
            several = way == "beside" and len(self.callers) > 1
            assert late or beside or several, f"{method} is declined although no other call runs"
            return
        whom, whose = owner.claim.caller, asker.claim.caller
        assert whom == whose, f"{whom} is asked for {whose}"
        given_up = asker.left_at is not None and owner.claim.left_at is None
        assert late or method == ROOTS or not given_up, f"{whom} is asked for a call that was given up"


def check(steps: Sequence[Step]) -> None:
    """Assert the law for a sequence of steps on one connection."""
    model = Model()
    for number, step in enumerate(steps):
        model.step(number, step)


ASK = ("ask", 0, ELICITATION, "in order")
SIDE_BY_SIDE: Sequence[Step] = (
    ("call", 0, "", ""),
    ASK,
    ("call", 2, "", ""),
    ASK,
    ("ask", 0, SAMPLING, "carried"),
    ("leave", 0, "", ""),
    ("ask", 1, ROOTS, "in order"),
    ASK,
    ("answer", 0, "", ""),
    ("ask late", 0, ELICITATION, "beside"),
    ("ask", 0, SAMPLING, "in order"),
)
GIVEN_UP: Sequence[Step] = (
    ("call", 0, "", ""),
    ASK,
    ("leave", 0, "", ""),
    ("call", 0, "", ""),
    ASK,
    ("ask", 1, SAMPLING, "in order"),
    ("wait", 0, "", ""),
    ("wait", 0, "", ""),
)

LATE: Sequence[Step] = (
    ("call", 0, "", ""),
    ("answer", 0, "", ""),
    ("call", 1, "", ""),
    ("ask late", 0, ELICITATION, "beside"),
)


@example(steps=SIDE_BY_SIDE)
@example(steps=GIVEN_UP)
@example(steps=LATE)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(("call", "call", "call", "answer", "leave", "ask", "ask", "ask", "ask late", "wait")),
            st.integers(0, 5),
            st.sampled_from(sorted(QUESTIONS)),
            st.sampled_from(WAYS),
        ),
        max_size=40,
    )
)
def test_a_question_is_its_own_conversations_or_nobodys(steps: Sequence[Step]) -> None:
    """Calls of several callers on one connection are answered, given up and asked for in any order."""
    check(steps)


BROKEN: dict[str, tuple[str, Any, Sequence[Step]]] = {
    "calls beside the last one": (
        "Claims._owner",
        lambda claims, *_: Owner(next(reversed(claims._open.values()), None)),
        SIDE_BY_SIDE,
    ),
    "the order of messages": (
        "Claims.note_question",
        lambda claims, question, method, carrier=None, **_: claims._owners.update(
            {question: claims._owner(method, carrier)}
        ),
        SIDE_BY_SIDE,
    ),
    "calls that were given up": ("_has_given_up", lambda *_: False, GIVEN_UP),
    "conversations": ("_is_one_conversation", lambda _: True, SIDE_BY_SIDE[:4]),
    "other conversations before": ("_conversation_of", lambda claim: claim.caller.tenant, LATE),
    "claims of calls that were given up": (
        "Claims.left",
        lambda claims, request: claims._open.pop(request, None),
        SIDE_BY_SIDE,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_without_a_check_the_law_of_claims_does_not_hold(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Each of them is needed; with it, the same steps keep the law."""
    part, instead, steps = BROKEN[name]
    check(steps)
    monkeypatch.setattr(f"octoc_transport_mcp.claims.{part}", instead)
    with pytest.raises(AssertionError):
        check(steps)
