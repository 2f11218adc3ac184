"""Every text that octoc itself writes for a model: its own tools, what they answer, notices of cuts, failures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, get_args

import attrs
import pytest

from octoc.bundle.model import ResultSettings
from octoc.choices import ResultProfile
from octoc.formats import FORMATS
from octoc.results import FailureKind, ToolFailure, ToolResult
from octoc.runtime import Session
from octoc.runtime.results.failures import as_mcp_result, explained, failure, unexplained, worded
from tests.runtime.conftest import Fleet
from tests.runtime.conftest import fleet as fleet  # noqa: PLC0414  # the fixture

Snapshots = Callable[[str, Mapping[str, str]], None]
PROFILES = ("octoc", "octo", "octopus")
SCHEMA = {
    "type": "object",
    "properties": {
        "repo": {"type": "string"},
        "state": {"enum": ["open", "closed"]},
        "count": {"type": "integer", "minimum": 1},
        "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
    },
    "required": ["repo"],
    "additionalProperties": False,
}
ROWS = [{"id": number, "name": f"item {number}"} for number in range(200)]


def _each(action: str, *names: str) -> list[dict[str, Any]]:
    return [{"action": action, "name": name} for name in names]


CALLS: list[tuple[str, list[dict[str, Any]]]] = [
    ("capability", [
        {}, {"action": "start"}, {"action": "enable"}, {"action": "discover"}, {"action": "list"},
        {"action": "discover", "intent": "show what changed"}, {"action": "discover", "intent": "zebra"},
        *_each("enable", "web", "web", "keyed", "hollow", "tools", "films", "weeb", "dead"), {"action": "list"},
        *_each("disable", "web", "git"),
    ]),
    ("skill", [
        {}, {"action": 3}, {"action": "drop"}, {"action": "use"}, {"action": "use", "name": ""}, {"action": "list"},
        {"action": "list", "pattern": "zzz"}, {"action": "list", "limit": 1}, *_each("use", "zzz", "tidy", "tidy"),
        *_each("forget", "tidy", "tidy"), *_each("use", "heavy"), {"action": "list"}, *_each("forget", "heavy"),
    ]),
    ("find_tools", [
        {}, {"query": 3}, {"q": "x"}, {"query": "fetch a page"}, {"query": "zebra"}, {"detail": ["web__fetch", "x"]},
        {"detail": 3},
    ]),
    ("call_mcp_tool", [
        {}, {"tool_name": "zzz"}, {"tool_name": "fetch"}, {"tool_name": "web__fetc"}, {"tool_name": "find_tools"},
        {"tool_name": "web__fetch", "text": "x"}, {"tool_name": "web__fetch", "arguments": "{}"},
        {"tool_name": "web__fetch", "arguments": {"text": "hello"}}, {"tool_name": "dead__dig"},
    ]),
    ("git__diff", [
        {}, {"repo": 3}, {"rpo": "x"}, {"repo": "x", "state": "opne", "count": 0, "labels": '["a"]'},
        {"repo": "x", "labels": ["a", "b", "c"]},
    ]),
    ("git__push", [{}]), ("git__fetch", [{}]), ("git__log", [{}]), ("git__shout", [{}]),
]  # fmt: skip
READS: list[dict[str, Any]] = [
    {"offset": 10**9}, {"part": 9}, {"offset": 1000}, {"limit": -1}, {"json_pointer": "/items/3"},
    {"json_pointer": "/items", "limit": 100}, {"json_pointer": "/nothing"}, {"json_pointer": "/items/x"},
    {"json_pointer": "items"}, {"json_pointer": "/note/x"}, {"json_pointer": 3}, {"handle": "r-none"}, {"handle": None},
]  # fmt: skip


@attrs.define
class Transcript:
    """Writes down the calls of a session and what the model reads."""

    session: Session
    lines: list[str] = attrs.field(factory=list)
    handles: list[str] = attrs.field(factory=list)

    async def call(self, name: Any, arguments: Any = None) -> ToolResult | ToolFailure:
        """Call a tool, and add what it answers."""
        outcome = await self.session.call(name, arguments)
        self.add(f"{name}({json.dumps(arguments or {}, ensure_ascii=False)})", outcome)
        return outcome

    def add(self, call: str, outcome: ToolResult | ToolFailure) -> None:
        """Add a call and its outcome; a handle becomes `<handle N>`."""
        state = outcome.kind if isinstance(outcome, ToolFailure) else "error" if outcome.is_error else "ok"
        if isinstance(outcome, ToolResult) and outcome.handle and outcome.handle not in self.handles:
            self.handles.append(outcome.handle)
        text = "\n".join([f"> {call}", f"[{state}]", outcome.text, ""])
        for number, handle in enumerate(self.handles):
            text = text.replace(handle, f"<handle {number}>")
        self.lines.append(text)


def populate(fleet: Fleet, profile: ResultProfile) -> None:
    """Give a fleet servers, capabilities and skills of every state that models see."""
    fleet.settings = attrs.evolve(fleet.settings, results=ResultSettings(profile=profile, max_chars=1200))

    async def refuse(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("the repository is empty", is_error=True)

    async def rows(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text(json.dumps({"items": ROWS, "note": "n" * 300}))

    async def lines(_: Mapping[str, Any]) -> ToolResult:
        return ToolResult.of_text("\n".join(f"line {number} ".ljust(80, "-") for number in range(50)))

    async def slow(_: Mapping[str, Any]) -> ToolFailure:
        return ToolFailure(kind="timeout", message="no answer within 30 s", text="", sent=True)

    fleet.server("git", {"log": lines, "diff": rows, "push": refuse, "fetch": slow}, {"diff": SCHEMA})
    fleet.server("web", ["fetch", "search"])
    fleet.server("dead", ["dig"]).broken = "command `dead` was not found on PATH"
    fleet.server("late", ["wait"], listed=False)
    fleet.capability("git", fleet.grant("git"), triggers=["show the commits", "what changed", "blame", "who wrote it"])
    fleet.capability("web", fleet.grant("web"), triggers=["fetch the page"])
    fleet.capability("dead", fleet.grant("dead"), triggers=["dig a hole"])
    fleet.capability("keyed", fleet.grant("web"), requires_env=("KEY_A", "KEY_B"))
    fleet.capability("hollow")
    fleet.capability("tools", deps=("org/docker",))
    fleet.capability("films", fleet.grant("web"), domains=("video",))
    fleet.dep("org/docker")
    fleet.skill("tidy", "Sweep first.", description='Say "tidy"', compatibility="Requires a broom.")
    fleet.skill("heavy", "Lift.", capabilities=("git", "web"))
    index = fleet.index("git/log", "git/diff", "git/push", "git/fetch", "web/fetch", "web/search", "dead/dig")
    fleet.agent(
        tools=index,
        direct=index[:4],
        proxy=True,
        domain="developer",
        unlisted=(fleet.grant("late"),),
        capabilities=("git", "web", "dead", "keyed", "hollow", "tools"),
    )


async def converse(session: Session) -> str:
    """Call octoc's own tools and the fleet's, rightly and wrongly, and return what the model reads."""
    notes = Transcript(session)
    for name, several in CALLS:
        for arguments in several:
            await notes.call(name, arguments)
    await notes.call(7)
    cut = await notes.call("git__diff", {"repo": "x"})
    for arguments in READS:
        await notes.call("read_result", {"handle": cut.handle if isinstance(cut, ToolResult) else None, **arguments})
    return "\n".join(notes.lines)


def failures(profile: str) -> str:
    """Return the text of each kind of failure in the words of a profile: refused, failed, explained, unexplained."""
    texts = []
    for kind in get_args(FailureKind):
        lost = ToolFailure(kind=kind, message="the server went away", text="", retry_after_s=11.2, sent=True)
        shown = worded(lost, "git__log", profile)
        texts += [
            f"> {kind}",
            failure(kind, "no such thing", profile=profile, similar=("a", "b"), retry_after_s=2, field="/a").text,
            shown.text,
            explained("It died.", shown, profile),
            unexplained(lost, "git__log"),
            json.dumps(as_mcp_result(shown, profile)),
            "",
        ]
    return "\n".join(texts)


@pytest.mark.parametrize("profile", PROFILES)
def test_what_a_model_reads_is_as_recorded(profile: ResultProfile, fleet: Fleet, snapshots: Snapshots) -> None:
    """Answers of octoc's own tools, refusals, cuts and failures in each profile are the recorded texts."""
    populate(fleet, profile)

    async def run() -> str:
        async with fleet.open() as runtime:
            return await converse(runtime.session())

    snapshots(f"model-{profile}", {"answers.txt": asyncio.run(run()), "failures.txt": failures(profile)})


def test_tools_are_as_recorded(fleet: Fleet, snapshots: Snapshots) -> None:
    """The tool block of an agent, octoc's own tools first, is the recorded one in the form of each API."""
    populate(fleet, "octoc")
    session = fleet.open().session()
    texts = {f"{form}.json": json.dumps(session.tools(form), indent=2, ensure_ascii=False) + "\n" for form in FORMATS}
    native = session.tools("anthropic", deferred="native")
    texts["anthropic-native.json"] = json.dumps(native, indent=2, ensure_ascii=False) + "\n"
    snapshots("own-tools", texts)
