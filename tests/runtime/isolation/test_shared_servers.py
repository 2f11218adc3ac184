"""The law of words: on servers that several tenants share, what a failure says reaches the call that failed alone.

Random fleets make random calls side by side while their servers refuse connections, die, and answer with failures. Each
call's arguments have a word of its own, which the servers repeat.
"""

from __future__ import annotations

import asyncio
import contextvars
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import attrs
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from octoc.plugin import ConnectFailedError, Host, ServerTarget
from octoc.results import FailureKind, Progress, ToolCall, ToolFailure, ToolResult
from octoc.runtime import Runtime, Session
from octoc.runtime.results.failures import failure
from octoc.runtime.servers.server_pool import ServerPool
from octoc.runtime.servers.tool_breakers import ToolKey
from octoc.runtime.shares import NO_ACCOUNT

from .fleets import Facts, ServerFacts
from .looks import Line, World, build, opened, plain
from .random_fleets import fleets
from .test_law import EXAMPLES, FACTS

NONE, NEVER = 0.0, 1e12
"""Pauses between two attempts to connect, in seconds: none, and longer than any call."""
FAILURES = 2
"""Failures in a row that open a breaker."""
KINDS: dict[str, FailureKind] = {
    "timeout": "timeout",
    "protocol": "protocol",
    "crash": "connection_lost",
    "unauthorized": "unauthorized",
    "too large": "too_large",
}
FAULTS = ("none", "none", "is error", "rpc error", "raise", *KINDS)
REFUSALS: dict[str, dict[str, Any]] = {
    "refused": {},
    "silent": {"kind": "timeout"},
    "refused for good": {"kind": "unauthorized", "permanent": True},
}
WORD: contextvars.ContextVar[str] = contextvars.ContextVar("word", default="")
"""The word of the call that the test makes."""


@attrs.frozen
class Step:
    """What one agent does: its number, what, and the fault of the server that it meets."""

    agent: int
    what: int
    fault: str


@attrs.define(eq=False)
class Faulty(World):
    """Servers that repeat the words of a call in all that they say of a failure."""

    refusing: dict[str, str] = attrs.field(factory=dict)
    lines: list[FaultyLine] = attrs.field(factory=list)
    reached: set[str] = attrs.field(factory=set)
    """Words of the calls that a server failed."""
    unhealthy: set[str] = attrs.field(factory=set)
    """Servers that failed otherwise than by the answer to a call."""

    async def connect(self, target: ServerTarget, host: Host | None = None) -> Line:
        word = WORD.get()
        await asyncio.sleep(0)
        refusal = self.refusing.get(target.name)
        if refusal is not None:
            self.unhealthy.add(target.name)
            raise ConnectFailedError(f"no connection: licence {word} ended", **REFUSALS[refusal])
        facts = self.facts.servers.get(target.name, ServerFacts(tools=("hoard",)))
        self.lines.append(FaultyLine(target.name, facts, world=self))
        return self.lines[-1]

    def refuse(self, server: str, refusal: str) -> None:
        """End a server's connections, and refuse new ones."""
        self.refusing[server] = refusal
        self.unhealthy.add(server)
        for line in self.lines:
            line.alive = line.alive and line.name != server


@attrs.define
class FaultyLine(Line):
    """A connection on which calls fail as their arguments say."""

    world: Faulty = attrs.field(kw_only=True)

    async def call(self, call: ToolCall) -> ToolResult | ToolFailure:
        word, fault = call.arguments.get("word", ""), call.arguments.get("fault", "none")
        if call.on_progress is not None:
            call.on_progress(Progress(done=1, message=f"at work on {word}"))
        await asyncio.sleep(0)
        if fault == "none":
            return await Line.call(self, call)
        self.world.reached.add(word)
        if fault == "raise":
            raise ValueError(f"the transport chokes on {word}")
        if fault in ("is error", "rpc error"):
            code = -32000 if fault == "rpc error" else None
            return attrs.evolve(ToolResult.of_text(f"not done: {word}", is_error=True), rpc_code=code)
        if fault == "crash":
            self.alive = False
            self.world.unhealthy.add(self.name)
        return failure(KINDS[fault], f"`{self.name}`: {word}; its last line on stderr: {word}", sent=True)


def _words(outcome: Any) -> str:
    return f"{plain(outcome)} {outcome}"


def _tools(session: Session) -> list[str]:
    return [str(session.state.loaded.catalog[number].id) for number in session.state.tools.reachable()]


async def _shown(session: Session) -> str:
    """Return what a session shows beside the outcomes of its calls."""
    told = [session.tools("mcp"), session.inspect(), session.servers_prompt, session.capabilities]
    for name, arguments in (
        ("find_tools", {"query": "things that are kept"}),
        ("capability", {"action": "list"}),
        ("capability", {"action": "discover", "intent": "please do the write work for me now"}),
        ("no_such_tool", {}),
    ):
        told.append(_words(await session.call(name, arguments)))
    return f"{told}"


class Run:
    """A run of steps on one fleet, and all that each session has read."""

    def __init__(self, facts: Facts, runtime: Runtime, world: Faulty) -> None:
        self.world = world
        self.sessions = [runtime.session(name, tenant=facts.tenant_of(name)) for name in facts.agents]
        self.tenants = [facts.tenant_of(name) for name in facts.agents]
        self.words: list[list[str]] = [[] for _ in self.sessions]
        self.failed = Counter[tuple[str | None, str]]()
        for server in runtime.servers:
            pool = runtime.state.current.pool[server]
            pool.breaker.configure(FAILURES, 30.0)
            pool.tools.configure(FAILURES, 30.0)

    async def step(self, number: int, step: Step) -> None:
        """Do one step, and assert that its outcome has no word of another call."""
        who = step.agent % len(self.sessions)
        session, word = self.sessions[who], f"canary{number}x"
        self.words[who].append(word)
        WORD.set(word)
        tools, heard = _tools(session), list[str]()
        capabilities = session.state.tools.switchable
        if capabilities and step.what % 5 == 0:
            name = capabilities[step.what % len(capabilities)]
            outcome = _words(await session.call("capability", {"action": "enable", "name": name}))
            outcome += _words(await session.call("capability", {"action": "disable", "name": name}))
        elif not tools or step.what % 7 == 0:
            outcome = f"{await session.connect_unlisted()}"
        else:
            tool = tools[step.what % len(tools)]
            self._meet(tool.partition("/")[0], step.fault)
            fault = step.fault if step.fault in FAULTS else "none"
            self.failed[self.tenants[who], tool] += fault not in ("none", "is error", "rpc error")
            ended = await session.call(
                tool, {"word": word, "fault": fault}, on_progress=lambda told: heard.append(f"{told}")
            )
            outcome = _words(ended) + f"{heard}"
            calm = not self.failed[self.tenants[who], tool] and not self.world.unhealthy
            assert ended.ok or fault != "none" or not calm, f"{tool} is refused: {ended}"
            assert word in outcome or word not in self.world.reached, f"{word} is missing: {outcome}"
        self._check(outcome, [word])

    def _meet(self, server: str, fault: str) -> None:
        if fault in REFUSALS:
            self.world.refuse(server, fault)
        elif fault == "none":
            self.world.refusing.pop(server, None)

    def _check(self, text: str, own: Sequence[str]) -> None:
        foreign = [word for words in self.words for word in words if word in text and word not in own]
        assert not foreign, f"{foreign} is in what {own} gets: {text}"

    async def look(self) -> None:
        """Assert that what each session shows has no word of another."""
        for session, own in zip(self.sessions, self.words, strict=True):
            WORD.set("")
            self._check(await _shown(session), own)


Batches = Sequence[Sequence[Step]]


async def run(facts: Facts, bundle: Path, root: Path, batches: Batches) -> None:
    """Assert the law for steps of which each batch is done side by side."""
    world = Faulty(facts)
    async with opened(bundle, world, root) as runtime:
        work = Run(facts, runtime, world)
        number = 0
        for batch in batches:
            steps = [asyncio.create_task(work.step(number + at, step)) for at, step in enumerate(batch)]
            number += len(batch)
            for ended in await asyncio.gather(*steps, return_exceptions=True):
                if isinstance(ended, BaseException):
                    raise ended
            await work.look()


def hold(facts: Facts, batches: Batches, pause: float, root: Path) -> None:
    """Build a fleet, and assert the law; `pause` is what lies between two attempts to connect, in seconds."""
    facts = attrs.evolve(facts, encoder=False)
    bundle, _ = build(facts, root)
    with (
        patch("octoc.runtime.servers.server_pool.reconnect_pause", lambda _: pause),
        patch("octoc.runtime.tools.server_call.pause_before", lambda *_: 0.0),
    ):
        asyncio.run(run(facts, bundle, root, batches))


STEPS = st.builds(Step, st.integers(0, 3), st.integers(1, 40), st.sampled_from((*FAULTS, *REFUSALS)))
CLERK, THIEF = 0, 1
SEND = 4
"""The number of a step that calls `mail/send`, which both agents have."""
FAILED: Batches = (
    (Step(THIEF, SEND, "timeout"), Step(CLERK, SEND, "none")),
    (Step(THIEF, SEND, "protocol"),),
    (Step(THIEF, SEND, "protocol"),),
    (Step(CLERK, SEND, "none"), Step(THIEF, SEND, "none")),
    *((Step(THIEF, SEND, fault), Step(CLERK, SEND, "none")) for fault in FAULTS),
)
"""The clerk calls a tool while the thief's calls of it meet every fault of an answer."""
REFUSED: Batches = (
    (Step(THIEF, SEND, "refused"), Step(CLERK, SEND, "timeout")),
    (Step(CLERK, SEND, "timeout"),),
    (Step(CLERK, SEND, "none"), Step(THIEF, SEND, "none")),
    (Step(THIEF, SEND, "crash"), Step(CLERK, SEND, "crash")),
    (Step(CLERK, SEND, "refused for good"), Step(THIEF, SEND, "timeout"), Step(CLERK, 5, "none")),
)
"""The clerk waits for an attempt to connect that the thief began, and calls while the circuit is open."""


@settings(max_examples=EXAMPLES * 2, suppress_health_check=list(HealthCheck))
@example(facts=FACTS, batches=FAILED, pause=NONE)
@example(facts=FACTS, batches=REFUSED, pause=NONE)
@example(facts=FACTS, batches=REFUSED, pause=NEVER)
@given(
    facts=fleets(),
    batches=st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=4, max_size=14),
    pause=st.sampled_from((NONE, NEVER)),
)
def test_the_words_of_a_failure_reach_its_own_call_alone(facts: Facts, batches: Batches, pause: float) -> None:
    """Outcomes, progress, listings, searches and states have no word of another call, and a failure has its own."""
    with tempfile.TemporaryDirectory() as root:
        hold(facts, batches, pause, Path(root))


def _note(pool: ServerPool, why: Any, *, growing: bool) -> None:
    _NOTE(pool, why, growing=growing)
    pool.last_kind = why.failure.message


_NOTE = ServerPool._note_connect_failure
BROKEN: dict[str, tuple[str, Any, Batches]] = {
    "failures of another's attempt to connect": (
        "octoc.runtime.servers.server_pool.without_words",
        lambda _, failed: failed,
        REFUSED,
    ),
    "the last failure of a server": (
        "octoc.runtime.servers.server_pool.ServerPool._note_connect_failure",
        _note,
        REFUSED,
    ),
    "accounts of callers": ("octoc.runtime.tools.server_call.account_of", lambda _: NO_ACCOUNT, FAILED),
    "breakers of an account": ("octoc.runtime.servers.lease.ToolKey", lambda _, tool, __: ToolKey("", tool), FAILED),
}


@pytest.mark.parametrize("check", BROKEN)
def test_without_a_check_the_words_of_a_failure_reach_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: str
) -> None:
    """Each of them, switched off alone, shows one tenant what another's call brought about."""
    name, instead, batches = BROKEN[check]
    monkeypatch.setattr(name, instead)
    with pytest.raises(AssertionError):
        hold(FACTS, batches, NEVER, tmp_path)
