"""Messages and queries with expected outcomes, which `octoc test` runs and a build may be calibrated on."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from octoc.diagnostics.model import Place
from octoc.names import SUPERVISOR

NOTHING = "none"
"""The expectation of a fixture that should activate nothing."""


def _texts(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _expected(given: str | Iterable[str]) -> tuple[str, ...]:
    names = _texts(given)
    return () if names == (NOTHING,) else names


@attrs.frozen(kw_only=True)
class RoutingFixture:
    """A user's message and the capabilities that it should activate.

    Args:
        expect: a bare name, or several for a compound request; `()` and `"none"` mean no capability.
        before: the user's earlier messages in the same conversation, the oldest first.
        agent: the agent of the conversation.
        note: the kind of message, in the author's words; results are counted by it.
        place: its place in a file, or None.
    """

    text: str
    expect: tuple[str, ...] = attrs.field(default=(), converter=_expected)
    before: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    agent: str = SUPERVISOR
    note: str = ""
    place: Place | None = attrs.field(default=None, eq=False)


@attrs.frozen(kw_only=True)
class SearchFixture:
    """A query of find_tools and the tools that answer it, as `server/tool`; `()` and `"none"` mean no tool.

    Other fields are as in `RoutingFixture`.
    """

    query: str
    tools: tuple[str, ...] = attrs.field(default=(), converter=_expected)
    agent: str = SUPERVISOR
    note: str = ""
    place: Place | None = attrs.field(default=None, eq=False)


@attrs.frozen(kw_only=True)
class Fixtures:
    """The fixtures of a workspace, in the order of their files and then as written, without duplicates."""

    messages: tuple[RoutingFixture, ...] = ()
    searches: tuple[SearchFixture, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.messages or self.searches)

    def only(self, *, text: str | None = None, agent: str | None = None) -> Fixtures:
        """Return the fixtures of `agent` with `text`, ignoring case, in their message, expectation or note."""
        wanted = (text or "").lower()

        def fits(agent_of: str, *texts: str) -> bool:
            return agent in (None, agent_of) and any(wanted in one.lower() for one in texts)

        return Fixtures(
            messages=tuple(m for m in self.messages if fits(m.agent, m.text, m.note, *(m.expect or (NOTHING,)))),
            searches=tuple(s for s in self.searches if fits(s.agent, s.query, s.note, *(s.tools or (NOTHING,)))),
        )
