"""Messages and queries with what should come of them: what `octoc test` runs, and a build may be calibrated on."""

from __future__ import annotations

import attrs

from octoc.diagnostics.model import Place
from octoc.names import SUPERVISOR

NOTHING = "none"
"""What a fixture expects that nothing should be activated for."""


@attrs.frozen(kw_only=True)
class RoutingFixture:
    """A user's message and the capabilities that it should activate.

    Args:
        expect: bare names; `()` means no capability, several are a compound request.
        before: what the user said earlier in the same conversation, the oldest first.
        agent: whose conversation it is.
        note: what kind of message it is, in the author's words; results are counted by it.
        place: where it stands; None for one that no file has.
    """

    text: str
    expect: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    agent: str = SUPERVISOR
    note: str = ""
    place: Place | None = attrs.field(default=None, eq=False)


@attrs.frozen(kw_only=True)
class SearchFixture:
    """A query of find_tools and the tools that answer it, as `server/tool`; `()` means no tool.

    Else as `RoutingFixture`.
    """

    query: str
    tools: tuple[str, ...] = ()
    agent: str = SUPERVISOR
    note: str = ""
    place: Place | None = attrs.field(default=None, eq=False)


@attrs.frozen(kw_only=True)
class Fixtures:
    """The fixtures of a workspace, in the order of their files and then as written; each is there once."""

    messages: tuple[RoutingFixture, ...] = ()
    searches: tuple[SearchFixture, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.messages or self.searches)

    def only(self, *, text: str | None = None, agent: str | None = None) -> Fixtures:
        """Return those that have `text`, in any case, in what they say, expect or note, and that are of `agent`."""
        wanted = (text or "").lower()

        def fits(agent_of: str, *texts: str) -> bool:
            return agent in (None, agent_of) and any(wanted in one.lower() for one in texts)

        return Fixtures(
            messages=tuple(m for m in self.messages if fits(m.agent, m.text, m.note, *(m.expect or (NOTHING,)))),
            searches=tuple(s for s in self.searches if fits(s.agent, s.query, s.note, *(s.tools or (NOTHING,)))),
        )
