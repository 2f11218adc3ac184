"""What misbehaving stdio servers do to a runtime, row by row; run as a module, it plays the rows under a memory limit.

`python -m tests.runtime.faults.stdio_rows FOLDER` prints one JSON object: what came of each row, and of the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from octoc.bundle.model import Grant, Settings, ToolPolicy
from octoc.plugin.manager import load_plugins
from octoc.results import Progress, ToolFailure, ToolResult
from octoc.runtime import Runtime
from octoc.testing import FAULTY_STDIO
from tests.runtime.conftest import Fleet

if TYPE_CHECKING:
    from octoc.runtime.session import Session

FAULTY = FAULTY_STDIO
MARK = "OCTOC_FAULT_ROW"
"""Marks the processes of a row, with the number of the one that plays it: others may play it at the same time."""
SECRET = "s3cr3t-of-the-row"  # it must come back as ***
ROOM_BYTES = 256 * 1024 * 1024
"""How much more memory than after its imports the process may have: an allocation beyond that fails."""
AT_ONCE = 4
TIMEOUT_S = 5.0
"""The time limit where one is what a row is about: long enough for a server to start on a machine with other work."""
PATIENT_S = 120.0
"""The time limit where none is."""
BUSY_S = 30.0
"""What a busy machine may add to a time limit."""


@attrs.frozen(kw_only=True)
class Row:
    """One fault: what the model gets for a call of `tool`, and for a call of `echo` after it.

    `kind` and `after` are `ok`, `error` for an error result, a failure's kind, or `?` where both may be; `says` are
    fragments of the text, `heard` is the last progress that the host hears of.
    """

    mode: str
    kind: str
    says: tuple[str, ...] = ()
    after: str = "ok"
    era: str = "handshake"
    listed: bool = True
    tool: str = "fault"
    timeout_s: float = PATIENT_S
    heard: tuple[float, ...] = ()
    warm: bool = False
    """Whether the server is connected first: the time limit is then of a call alone, however long a start takes."""

    @property
    def within_s(self) -> float:
        """The longest that a call may take: its time limit, and what a busy machine adds."""
        return self.timeout_s + BUSY_S

    @property
    def waits(self) -> bool:
        """Whether the row is of waiting more than of work: such rows may all wait at once."""
        return self.timeout_s < PATIENT_S

    @property
    def name(self) -> str:
        return f"{self.mode}-{self.era}"


def _both(**fields: Any) -> tuple[Row, Row]:
    return Row(**fields), Row(**fields, era="modern")


ROWS: tuple[Row, ...] = (
    Row(mode="none", kind="ok", says=("nothing is wrong",)),
    Row(
        mode="exit-at-start",
        kind="connect_failed",
        says=("exited with code 3: no licence found",),
        after="connect_failed",
    ),
    Row(mode="exit-in-list", kind="connection_lost", says=("exited with code 4: the catalog is broken",), after="?"),
    Row(
        mode="exit-in-list",
        kind="connect_failed",
        says=("exited with code 4",),
        after="connect_failed",
        era="modern",
        listed=False,
    ),
    *_both(mode="exit-in-call", kind="connection_lost", says=("exited with code 7: fatal: out of luck",)),
    Row(mode="exit-after-call", kind="ok", says=("bye",), after="?"),
    Row(mode="signal-in-call", kind="connection_lost", says=("was ended by signal 9",)),
    Row(mode="hang-in-init", kind="timeout", says=("within 5 s",), after="timeout", timeout_s=TIMEOUT_S),
    Row(mode="silent-probe", kind="ok", says=("nothing is wrong",), timeout_s=12.0),
    *_both(mode="hang-in-list", kind="ok", says=("nothing is wrong",)),
    Row(
        mode="hang-in-list",
        kind="timeout",
        says=("did not list its tools within 5 s",),
        after="timeout",
        listed=False,
        timeout_s=TIMEOUT_S,
        era="unlisted",
    ),
    *_both(
        mode="hang-in-call", kind="timeout", says=("did not answer `fault` within 5 s",), timeout_s=TIMEOUT_S, warm=True
    ),
    Row(mode="deaf", kind="ok", says=("I hear nothing",), after="timeout", timeout_s=TIMEOUT_S, warm=True),
    Row(mode="banner", kind="ok", says=("nothing is wrong",)),
    Row(
        mode="garbage",
        kind="timeout",
        says=("it printed `what is this`, which is not MCP",),
        timeout_s=TIMEOUT_S,
        warm=True,
    ),
    Row(mode="half-frame", kind="timeout", says=("did not answer `fault` within 5 s",), timeout_s=TIMEOUT_S, warm=True),
    Row(mode="half-frame-exit", kind="connection_lost", says=("exited with code 9: cut off",)),
    Row(mode="broken-frame", kind="protocol", says=("a message that is not JSON",)),
    *_both(mode="huge-line", kind="too_large", says=("an answer of 524288", "over the limit of 16777216")),
    Row(mode="huge-line-id-last", kind="too_large", says=("over the limit of 16777216",)),
    Row(mode="huge-line-no-id", kind="too_large", says=("over the limit of 16777216",)),
    *_both(mode="invalid-utf8", kind="protocol", says=("not UTF-8",)),
    *_both(mode="half-character", kind="ok", says=("half \ufffd of \U0001f600",)),
    *_both(mode="deep-json", kind="protocol", says=("nested too deep",)),
    *_both(mode="many-elements", kind="too_large", says=("more than 250000 JSON elements, which is over the limit",)),
    Row(mode="many-parts", kind="too_large", says=("more than 10000 content parts",)),
    Row(mode="many-lines", kind="ok", says=("after the lines",)),
    Row(mode="9000-tools", kind="ok", says=("nothing is wrong",), listed=False, era="unlisted"),
    Row(mode="huge-word", kind="ok", says=("nothing is wrong",), listed=False, era="unlisted"),
    Row(mode="not-an-object", kind="protocol", says=("not JSON-RPC",)),
    Row(mode="null-id", kind="protocol", says=("an error without an id: cannot read that",)),
    Row(mode="many-tools", kind="ok", says=("nothing is wrong",)),
    Row(
        mode="many-tools",
        kind="too_large",
        says=("more than 20000 tools",),
        after="?",
        listed=False,
        era="unlisted",
    ),
    Row(mode="many-pages", kind="too_large", says=("more than 20000 tools",), after="?", listed=False, era="modern"),
    Row(mode="same-cursor", kind="protocol", says=("repeats a page's cursor",), after="?", listed=False),
    Row(mode="endless-cursors", kind="protocol", says=("lists its tools without end",), after="?", listed=False),
    Row(mode="same-name", kind="ok", says=("nothing is wrong",), listed=False),
    Row(mode="notification-flood", kind="ok", says=("flooding",)),
    Row(mode="progress-flood", kind="ok", says=("done",), heard=(50_000.0,)),
    Row(mode="request-flood", kind="ok", says=("asked", "the list of roots")),
    *_both(mode="list-changed-storm", kind="ok", says=("changed",)),
    *_both(mode="tool-disappears", kind="ok", says=("changed",)),
    Row(mode="wrong-id", kind="ok", says=("for you",)),
    Row(mode="twice", kind="ok", says=("once",)),
    Row(mode="late", kind="timeout", says=("did not answer `fault` within 5 s",), timeout_s=TIMEOUT_S, warm=True),
    Row(
        mode="ask-abandoned",
        kind="timeout",
        says=("did not answer `fault` within 5 s",),
        timeout_s=TIMEOUT_S,
        warm=True,
    ),
    *_both(mode="untyped", kind="ok", says=("nothing is wrong",)),
    *_both(mode="null-schema", kind="ok", says=("nothing is wrong",), listed=False),
    *_both(mode="unknown-part", kind="ok", says=("known", "a content part of type `hologram` cannot be read")),
    *_both(mode="not-a-number", kind="protocol", says=("a message that is not JSON",)),
    Row(mode="stderr-flood", kind="ok", says=("written",)),
    Row(mode="ignore-sigterm", kind="ok", says=("nothing is wrong",)),
    Row(mode="child", kind="ok", says=("nothing is wrong",)),
    Row(mode="child-exit", kind="connection_lost", says=("exited with code 5: gone",)),
    *_both(mode="secret-error", kind="error", says=("cannot log in with ***",)),
    Row(mode="secret-result", kind="error", says=("cannot log in with ***",)),
    Row(mode="secret-stderr", kind="connection_lost", says=("exited with code 6: login with *** failed",)),
    Row(
        mode="ask-elicitation", kind="ok", says=("an answer of the user (elicitation)", "this host has no answer to it")
    ),
    Row(
        mode="ask-elicitation",
        kind="not_ready",
        says=("an answer of the user (elicitation)", "this host has no answer to it"),
        era="modern",
    ),
    Row(mode="ask-sampling", kind="ok", says=("a completion by a model (sampling)",)),
    Row(mode="ask-sampling", kind="not_ready", says=("a completion by a model (sampling)",), era="modern"),
    Row(mode="ask-roots", kind="ok", says=("the list of roots",)),
    Row(mode="ask-roots", kind="not_ready", says=("the list of roots",), era="modern"),
)


def is_marked(entry: Path, mark: str) -> bool:
    """Tell whether a process of /proc has the mark in its environment."""
    try:
        return mark.encode() in (entry / "environ").read_bytes()
    except OSError:
        return False


def _mark(row: Row) -> str:
    return f"{row.name} of {os.getpid()}"


def left_over(row: Row) -> list[str]:
    """Return the processes that a row has left, by command."""
    marked = [entry for entry in Path("/proc").glob("[0-9]*") if is_marked(entry, f"{MARK}={_mark(row)}\0")]
    return [(entry / "comm").read_text() for entry in marked]


def kind_of(outcome: ToolResult | ToolFailure) -> str:
    """Return the word of a row for an outcome."""
    if isinstance(outcome, ToolFailure):
        return outcome.kind
    return "error" if outcome.is_error else "ok"


async def bystander(session: Session, done: asyncio.Event) -> dict[str, Any]:
    """Call another server again and again until the faulty one is done with, and tell how that went."""
    wrong: list[str] = []
    slowest = 0.0
    calls = 0
    while calls < 3 or not done.is_set():
        started = time.monotonic()
        outcome = await session.call("good__echo", {"text": f"nonce-{calls}"})
        slowest = max(slowest, time.monotonic() - started)
        if not (outcome.ok and outcome.text == json.dumps({"text": f"nonce-{calls}"})):
            wrong.append(outcome.text)
        calls += 1
        await asyncio.sleep(0.02)
    return {"calls": calls, "wrong": wrong, "slowest_s": slowest}


def _limited(tool: str, row: Row) -> ToolPolicy:
    return ToolPolicy(glob=tool, timeout_s=row.timeout_s)


async def play(row: Row, folder: Path) -> dict[str, Any]:
    """Play one row on a runtime of its own, with another server beside the faulty one."""
    fleet = Fleet(folder)
    fleet.settings = Settings(breaker_failures=0)
    env = {MARK: _mark(row), "SECRET": SECRET}
    era = "modern" if row.era == "modern" else "handshake"
    python = ("-I", "-S", FAULTY)
    tools = ["echo", "fault"] if row.listed else []
    run: dict[str, Any] = {"command": sys.executable, "env": env, "retry": "never"}
    fleet.server("good", ["echo"], args=(*python, "none", "--era", era), **run)
    limit: dict[str, Any] = {"timeout_s": row.timeout_s}
    if row.warm:
        tools.append("pid")
        limit = {"timeout_s": PATIENT_S, "policies": tuple(_limited(tool, row) for tool in ("echo", "fault"))}
    fleet.server("bad", tools, args=(*python, row.mode, "--era", era), listed=row.listed, **limit, **run)
    unlisted = () if row.listed else (Grant(server="bad", globs=("*",)),)
    fleet.agent(proxy=True, unlisted=unlisted, direct=fleet.index("good/echo"))
    report: dict[str, Any] = {"row": row.name}
    async with Runtime.open(fleet.write(), plugins=load_plugins(["transport-mcp"], {}), workspace=folder) as runtime:
        session = runtime.session()
        done = asyncio.Event()
        heard: list[Progress] = []
        beside = asyncio.create_task(bystander(session, done))
        try:
            if row.warm:
                assert (await session.call("call_mcp_tool", {"tool_name": "bad/pid", "arguments": {}})).ok
            for when, tool in (("first", row.tool), ("after", "echo")):
                started = time.monotonic()
                arguments = {"tool_name": f"bad/{tool}", "arguments": {}}
                outcome = await session.call("call_mcp_tool", arguments, on_progress=heard.append)
                report[when] = {
                    "kind": kind_of(outcome),
                    "text": outcome.text,
                    "sent": isinstance(outcome, ToolFailure) and outcome.sent,
                    "seconds": time.monotonic() - started,
                }
        finally:
            done.set()
            report["beside"] = await beside
        report["heard"] = [progress.done for progress in heard[-1:]]
    for _ in range(600):  # what was killed may take a moment to be gone
        report["left"] = left_over(row)
        if not report["left"]:
            break
        await asyncio.sleep(0.05)
    return report


async def play_all(folder: Path) -> dict[str, Any]:
    """Play every row, some at once, beside those that wait, and tell which tasks are left in the end."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, row: Row) -> dict[str, Any]:
        async with contextlib.nullcontext() if row.waits else room:
            return await play(row, folder / str(number))

    for number in range(len(ROWS)):
        (folder / str(number)).mkdir()

    reports = await asyncio.gather(*(one(number, row) for number, row in enumerate(ROWS)))
    await asyncio.sleep(0)
    tasks = [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    return {"rows": reports, "tasks": tasks}


def held_kb(what: str) -> int:
    """Return a figure of this process's memory, in KiB: `VmRSS` what it holds, `VmHWM` the most that it held."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith(f"{what}:")))


def main(folder: Path) -> None:
    """Play the table under the memory limit and print what came of it."""
    importlib.import_module("mcp.client.client")  # the largest import: the room is for the faults alone
    threading.stack_size(
        512 * 1024
    )  # the stacks of threads that wait for children would count for more than the faults
    taken = int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_DATA, (taken + ROOM_BYTES, taken + ROOM_BYTES))
    open_before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    Path("/proc/self/clear_refs").write_text("5")  # the peak of what it holds, from here on
    before = held_kb("VmRSS")
    told = asyncio.run(play_all(folder))
    told["grown_kb"] = held_kb("VmHWM") - before
    told["descriptors"] = sum(1 for _ in Path("/proc/self/fd").iterdir()) - open_before
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
