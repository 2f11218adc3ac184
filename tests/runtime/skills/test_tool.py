"""The tool `skill`: Octomind's words, whose skills it shows, and what using and forgetting one does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import ResultSettings

if TYPE_CHECKING:
    from octoc.runtime import Runtime
    from octoc.runtime.session import Session
    from tests.runtime.conftest import Fleet

TIDY = '**tidy**\n  Say "tidy"\n  Compatibility: Requires a broom.\n'
TIDY_BLOCK = '<skill name="tidy" description="Say &quot;tidy&quot;">\nSweep first.\n</skill>'
GONE = "Injected content will be cleaned up at next compression."


def _run(fleet: Fleet, scenario: Callable[[Session], Awaitable[None]], agent: str = "supervisor") -> None:
    async def run() -> None:
        async with fleet.open() as runtime:
            await scenario(runtime.session(agent))

    asyncio.run(run())


def _used(session: Session) -> tuple[str, ...]:
    return session.skills


def _active(session: Session) -> tuple[str, ...]:
    return session.capabilities


async def _said(session: Session, **arguments: Any) -> tuple[bool, str]:
    outcome = await session.call("skill", arguments)
    return outcome.ok, outcome.text


@pytest.mark.parametrize(
    "arguments, ok, text",
    [
        ({}, False, "missing required parameter: action"),
        ({"action": 3}, False, "action must be a string"),
        ({"action": " "}, False, "action must be a string"),
        ({"action": "drop"}, False, "unknown action 'drop'. Valid actions: list, use, forget"),
        ({"action": "use"}, False, "missing required parameter: name"),
        ({"action": "forget", "name": ""}, False, "name must be a non-empty string"),
        ({"action": "use", "name": "zzz"}, False,
         "Skill 'zzz' not found. Use skill(action=\"list\") to see available skills."),
        ({"action": "forget", "name": "tidy"}, False,
         "Skill 'tidy' is not currently active. Use skill(action=\"list\") to see active skills."),
        ({"action": "use", "name": "tidy"}, True,
         f"Skill 'tidy' is now active.\n\n{TIDY_BLOCK}"),
        ({"action": "list", "pattern": "zzz"}, True, "No skills found matching the pattern."),
        ({"action": "list"}, True,
         f"Found 2 skill(s):\n\n**plain**\n  The skill plain\n\n{TIDY}"),
        ({"action": "list", "pattern": "TIDY", "offset": "x"}, True,
         f"Found 1 skill(s) matching pattern:\n\n{TIDY}"),
        ({"action": "list", "limit": 1}, True,
         "Found 2 skill(s):\n\n**plain**\n  The skill plain\n\nShowing 1-1 of 2. Use offset=1 to see more."),
    ],
)  # fmt: skip
def test_the_words_are_octominds(fleet: Fleet, arguments: dict[str, Any], ok: bool, text: str) -> None:
    """Every answer is Octomind's own, followed by the text of a used skill."""
    fleet.skill("plain")
    fleet.skill("tidy", "Sweep first.", description='Say "tidy"', compatibility="Requires a broom.")
    fleet.agent()

    async def scenario(session: Session) -> None:
        assert await _said(session, **arguments) == (ok, text)

    _run(fleet, scenario)


def test_using_and_forgetting(fleet: Fleet) -> None:
    """A used skill is marked and not used twice; a forgotten one can be used again."""
    fleet.skill("tidy", "Sweep.")
    fleet.agent()

    async def scenario(session: Session) -> None:
        assert _used(session) == ()
        assert (await _said(session, action="use", name=" tidy "))[0]
        assert _used(session) == ("tidy",)
        assert "**tidy** ✓ [active]" in (await _said(session, action="list"))[1]
        again = "Skill 'tidy' is already active in this session. Use forget to remove it first."
        assert await _said(session, action="use", name="tidy") == (True, again)
        assert await _said(session, action="forget", name="tidy") == (
            True,
            f"Skill 'tidy' removed from context. {GONE}",
        )
        assert _used(session) == ()
        block = (await session.use_skill("tidy")).block
        assert "Sweep." in block
        assert session.skills_prompt == block
        await session.forget_skill("tidy")
        assert session.skills_prompt == ""

    _run(fleet, scenario)


def test_the_tool_is_there_only_with_skills(fleet: Fleet) -> None:
    """An agent without skills has no tool of the name; what another agent has is not revealed."""
    fleet.skill("ours")
    fleet.skill("theirs")
    fleet.agent()
    fleet.agent("one", skills=("ours", "of-no-bundle"))
    fleet.agent("none", skills=())

    async def run() -> None:
        async with fleet.open() as runtime:
            one, none = runtime.session("one"), runtime.session("none")
            assert [tool["name"] for tool in one.tools()] == ["skill"]
            assert none.tools() == []
            assert "theirs" not in (await _said(one, action="list"))[1]
            assert (await _said(one, action="use", name="theirs"))[1].startswith("Skill 'theirs' not found.")
            assert "theirs" not in (await _said(one, action="use", name="their"))[1].removeprefix("Skill 'their' not")
            refused = await none.call("skill", {"action": "list"})
            assert not refused.ok
            assert "ours" not in refused.text

    asyncio.run(run())


def test_capabilities_go_through_the_registry(fleet: Fleet) -> None:
    """What a skill asks for is activated like any capability, and no further: scope, variables, servers."""
    for name in ("a", "b", "broken"):
        fleet.server(name, ["x"])
        fleet.capability(name, fleet.grant(name))
    fleet.servers["broken"].broken = "no such program"
    fleet.server("keyed", ["x"])
    fleet.capability("keyed", fleet.grant("keyed"), requires_env=("KEY_OF_NOBODY",))
    fleet.server("outside", ["x"])
    fleet.capability("outside", fleet.grant("outside"))
    fleet.skill("tidy", capabilities=("a", "keyed", "broken", "outside", "nowhere", "b"))
    fleet.agent(direct=(), capabilities=("a", "b", "broken", "keyed"))

    async def scenario(session: Session) -> None:
        change = await session.use_skill("tidy")
        assert change.ok
        assert [note.split(":")[0] for note in change.notes] == [
            "Loaded capability 'a' (servers",
            "⚠️ Capability 'keyed' skipped — missing env vars",
            "⚠️ Capability 'broken' could not be activated",
            "⚠️ Capability 'outside' not found",
            "⚠️ Capability 'nowhere' not found",
            "Loaded capability 'b' (servers",
        ]
        assert _active(session) == ("a", "b")
        assert fleet.servers["outside"].connects == 0
        told = (await session.forget_skill("tidy")).text
        assert told == f"Skill 'tidy' removed from context (offloaded servers: a, b). {GONE}"
        assert _active(session) == ()
        assert fleet.servers["a"].open == 0

    _run(fleet, scenario)


def test_forgetting_leaves_what_others_need(fleet: Fleet) -> None:
    """A capability stays while another skill asks for it, and when the model or a message has activated it itself."""
    for name in ("a", "b"):
        fleet.server(name, ["x"])
        fleet.capability(name, fleet.grant(name))
    fleet.skill("one", capabilities=("a", "b"))
    fleet.skill("two", capabilities=("a",))
    fleet.agent()

    async def scenario(session: Session) -> None:
        await session.activate("b")
        await session.use_skill("one")
        await session.use_skill("two")
        await session.forget_skill("one")
        assert _active(session) == ("b", "a")
        await session.forget_skill("two")
        assert _active(session) == ("b",)
        await session.use_skill("two")
        await session.deactivate("a")
        await session.activate("a")
        await session.forget_skill("two")
        assert _active(session) == ("b", "a")

    _run(fleet, scenario)


def test_the_limit_holds(fleet: Fleet) -> None:
    """A skill with more capabilities than may be active keeps the last ones and names the evicted ones."""
    for name in ("a", "b", "c"):
        fleet.server(name, ["x"])
        fleet.capability(name, fleet.grant(name))
    fleet.settings = attrs.evolve(fleet.settings, max_active=2)
    fleet.skill("greedy", capabilities=("a", "b", "c"))
    fleet.agent()

    async def scenario(session: Session) -> None:
        change = await session.use_skill("greedy")
        assert _active(session) == ("b", "c")
        assert change.notes[0] == "⚠️ Capability 'a' was evicted for the others: no more than 2 are active at once"
        await session.forget_skill("greedy")
        assert _active(session) == ()

    _run(fleet, scenario)


def test_resources_are_listed_where_they_are(fleet: Fleet, tmp_path: Path) -> None:
    """A skill's files stand by folder with their paths on this machine; one that is not there says so."""
    (tmp_path / "skills/tidy/scripts").mkdir(parents=True)
    there = tmp_path / "skills/tidy/scripts/run.sh"
    there.write_text("exit 0\n", encoding="utf-8")
    fleet.skill(
        "tidy",
        "Body",
        folder="${workspaceFolder}/skills/tidy",
        resources=("references/a.md", "scripts/run.sh", "scripts/sub/b.sh"),
    )
    fleet.skill("far", "Body", resources=("assets/x.txt",))
    fleet.agent()

    async def scenario(session: Session) -> None:
        assert (await session.use_skill("tidy")).block.splitlines()[1:] == [
            "Body", "", "## Skill Resources", "", "**references/**", "- `a.md` — not on this machine", "",
            "**scripts/**", f"- `run.sh` — {there}", "- `sub/b.sh` — not on this machine", "</skill>",
        ]  # fmt: skip
        assert "- `x.txt` — not on this machine" in (await session.use_skill("far")).block
        assert session.skills_prompt.count("<skill name=") == 2

    _run(fleet, scenario)


def test_a_long_text_is_cut(fleet: Fleet) -> None:
    """A skill's text is held to the limit of results, and the rest can be read."""
    fleet.settings = attrs.evolve(fleet.settings, results=ResultSettings(max_chars=2000))
    fleet.skill("long", "word " * 2000)
    fleet.agent()

    async def scenario(session: Session) -> None:
        outcome = await session.call("skill", {"action": "use", "name": "long"})
        assert len(outcome.text) < 3000
        assert outcome.text.startswith("Skill 'long' is now active.")
        assert {tool["name"] for tool in session.tools()} == {"skill", "read_result"}
        more = await session.call("read_result", {"handle": outcome.handle, "offset": 2000})
        assert "word word" in more.text

    _run(fleet, scenario)


def test_a_reload_keeps_what_is_still_there(fleet: Fleet) -> None:
    """After a reload the skills in use are those that the agent still has."""
    fleet.skill("one")
    fleet.skill("two")
    fleet.agent()

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            await session.use_skill("one")
            await session.use_skill("two")
            other = type(fleet)(fleet._folder)  # a second fleet in the same folder
            other._numbers = fleet._numbers
            other.skill("two")
            other.agent()
            await runtime.reload(other.write())
            await session.on_user_message("hello there, how are you")
            assert _used(session) == ("two",)

    asyncio.run(run())


def test_one_turn(fleet: Fleet) -> None:
    """In a turn of several calls, what comes behind `skill` sees what the skill has activated."""
    fleet.server("a", ["x"])
    fleet.capability("a", fleet.grant("a"))
    fleet.skill("tidy", capabilities=("a",))
    fleet.agent(direct=(), proxy=False)

    async def scenario(session: Session) -> None:
        outcomes = await session.call_all([("skill", {"action": "use", "name": "tidy"}), ("a__x", {"text": "hi"})])
        assert [outcome.ok for outcome in outcomes] == [True, True]

    _run(fleet, scenario)


def test_nothing_is_altered_unseen(fleet: Fleet) -> None:
    """A bundle whose texts were changed gives a failure, and the skill is not in use."""
    fleet.skill("tidy", "Sweep the floor.")
    fleet.agent()

    def opened() -> Runtime:
        path = fleet.write()
        path.write_bytes(path.read_bytes().replace(b"Sweep the floor.", b"Sleep the floor."))
        from octoc.plugin.manager import plugins_of
        from octoc.runtime import Runtime

        return Runtime.open(path, plugins=plugins_of(fleet))

    async def run() -> None:
        async with opened() as runtime:
            session = runtime.session()
            outcome = await session.call("skill", {"action": "use", "name": "tidy"})
            assert not outcome.ok
            assert "Sleep" not in outcome.text
            assert _used(session) == ()

    asyncio.run(run())
