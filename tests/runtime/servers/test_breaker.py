"""The circuit breaker, held to its states by a clock of the test."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from octoc.runtime.servers.breaker import CircuitBreaker


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _fail(breaker: CircuitBreaker, times: int) -> None:
    for _ in range(times):
        breaker.ended(breaker.admit(), "failed")


def test_it_opens_after_so_many_failures_in_a_row() -> None:
    """An answer in between begins the count anew; when it opens it says for how long."""
    clock = Clock()
    breaker = CircuitBreaker(3, 10, clock)
    _fail(breaker, 2)
    breaker.ended(breaker.admit(), "worked")
    _fail(breaker, 2)
    _fail(breaker, 1)
    clock.now += 4
    assert (breaker.state, breaker.wait()) == ("open", 6)


def test_half_open_lets_one_call_through() -> None:
    """After its time one call is tried; it closes the breaker by an answer, opens it by a failure, else another may."""
    clock = Clock()
    breaker = CircuitBreaker(1, 10, clock)
    _fail(breaker, 1)
    clock.now += 10
    assert breaker.wait() is None
    probe = breaker.admit()
    assert breaker.wait() == 0
    breaker.ended(probe, "unknown")
    assert breaker.wait() is None
    _fail(breaker, 1)
    assert breaker.wait() == 10
    clock.now += 10
    breaker.ended(breaker.admit(), "worked")
    assert breaker.state == "closed"


def test_the_late_end_of_an_earlier_call_says_nothing() -> None:
    """A call that began before the breaker opened neither closes it nor takes the place of the one that is tried."""
    clock = Clock()
    breaker = CircuitBreaker(2, 10, clock)
    early = [breaker.admit() for _ in range(4)]
    breaker.ended(early[0], "failed")
    breaker.ended(early[1], "failed")
    breaker.ended(early[2], "worked")
    assert breaker.wait() == 10
    clock.now += 10
    breaker.admit()
    breaker.ended(early[3], "unknown")
    assert breaker.wait() == 0


def test_zero_failures_is_never() -> None:
    """With no limit it stays closed whatever happens."""
    breaker = CircuitBreaker(0, 10, Clock())
    _fail(breaker, 100)
    assert breaker.state == "closed"


@given(st.lists(st.sampled_from(["worked", "failed", "unknown", "wait"]), max_size=40), st.integers(1, 4))
def test_it_lets_through_what_its_words_say(steps: list[str], limit: int) -> None:
    """Calls one after another: refused exactly within the time after `limit` failures in a row, or a failed trial."""
    clock = Clock()
    breaker = CircuitBreaker(limit, 10, clock)
    row, until, trying = 0, 0.0, False
    for step in steps:
        if step == "wait":
            clock.now += 4
            continue
        if clock.now < until:
            assert breaker.wait()
            continue
        assert breaker.wait() is None
        breaker.ended(breaker.admit(), step)  # type: ignore[arg-type]
        if step == "worked":
            row, trying = 0, False
        elif step == "failed":
            row += 1
            if trying or row >= limit:
                until, trying = clock.now + 10, True
