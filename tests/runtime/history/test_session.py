import asyncio
from typing import Any

import attrs
import pytest

from octoc.bundle.model import Settings
from octoc.plugin import hookimpl
from octoc.plugin.manager import plugins_of
from octoc.runtime import Runtime
from octoc.runtime.history import SlidingWindow

LONG = "0123456789" * 1000
CALLED: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": LONG},
]
ASKS: list[dict[str, Any]] = [{"role": "user", "content": "x" * 36}] * 12


@attrs.frozen
class Words:
    """Counts words."""

    name: str = "words"

    def count(self, text: str) -> int:
        return len(text.split())


class Counters:
    """Knows one model, and fails for another."""

    @hookimpl
    def octoc_token_counter(self, model: str) -> Words | None:
        if model == "broken":
            raise RuntimeError("no vocabulary")
        return Words() if model == "claude-x" else None


def test_pruning_returns_messages_and_fit_says_what_was_done(fleet: Any) -> None:
    """`prune` gives the messages that `fit` keeps; `fit` also takes a window, and tells."""
    fleet.agent()
    session = fleet.open().session()
    assert session.prune(ASKS, budget_tokens=100) == ASKS[:7]
    done = asyncio.run(session.fit(ASKS, budget_tokens=100, pruner=SlidingWindow(turns=5)))
    assert (len(done.messages), done.tokens, done.fits) == (5, 65, True)
    assert len(asyncio.run(session.fit(ASKS, budget_tokens=0, keep_turns=2)).messages) == 2


def test_what_stays_over_the_budget_is_logged(fleet: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A host that only takes the messages finds in the log that they do not fit."""
    fleet.agent()
    fleet.open().session().prune(ASKS, budget_tokens=1)
    assert "39 tokens must stay of a budget of 1: the last 3 turns take 39" in caplog.text


def test_an_aged_result_can_be_read_back(fleet: Any) -> None:
    """The handle of an aged result opens it in the same session, with `read_result`, and in no other."""
    fleet.settings = Settings()
    fleet.server("s", ["t"])
    fleet.agent()

    async def main() -> None:
        async with fleet.open() as runtime:
            session, other = runtime.session(), runtime.session()
            done = session.age([*CALLED, *ASKS])
            handle = done.handles["1"]
            assert handle in done.messages[1]["content"]
            read = await session.call("read_result", {"handle": handle, "offset": 3800, "limit": 100})
            assert LONG[3800:3900] in read.text
            foreign = await other.call("read_result", {"handle": handle})
            assert not foreign.ok
            assert session.age(done.messages).messages == done.messages

    asyncio.run(main())


def test_a_foreign_conversation_is_repaired(fleet: Any) -> None:
    """A session repairs a list whose call has no result, in a shape found out or stated."""
    fleet.agent()
    session = fleet.open().session()
    assert [one.kind for one in session.repair(CALLED[:1]).repairs] == ["interrupted"]
    with pytest.raises(ValueError, match="messages have no format `x`"):
        session.repair([], format="x")


def _session(fleet: Any, model: str) -> Any:
    fleet.agent()
    fleet._agents[0] = attrs.evolve(fleet._agents[0], model=model)
    return Runtime.open(fleet.write(), plugins=plugins_of(Counters())).session()


def test_tokens_are_counted_for_the_agents_model(fleet: Any) -> None:
    """A plugin's counter for the model of the agent counts; for other models the approximate one does."""
    session = _session(fleet, "claude-x")
    assert session.counter.name == "words"
    done = asyncio.run(session.fit(ASKS, budget_tokens=1000))
    assert (done.counter, done.tokens) == ("words", 12 * 5)


@pytest.mark.parametrize("model", ["other", "broken", ""])
def test_without_an_exact_counter_the_approximate_one_counts(fleet: Any, model: str) -> None:
    """A model that no plugin knows, or whose plugin fails, is counted approximately."""
    assert _session(fleet, model).counter.name == "chars/4"
