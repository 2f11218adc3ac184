"""Out of scope is answered as non-existence: two bundles differ by it, and their answers do not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from octoc.bundle.model import Gate, Grant, Settings
from octoc.formats import ToolFormat
from octoc.results import ToolFailure, ToolResult
from octoc.runtime import Runtime, Session
from octoc.runtime.results.failures import as_mcp_result
from tests.runtime.conftest import Fleet

NAMES = ["hidden", "hiden", "open", "run", "secret", "mine", "h", "payroll", "vault__", "nothing at all"]
FORMS = ["secret__{}", "secret/{}", "secret:{}", "mcp__secret__{}", "vault__{}", "vault/{}", "{}", "mine__{}"]
FORMATS: tuple[ToolFormat, ...] = ("anthropic", "openai", "gemini", "mcp")
QUERIES = ["hidden", "run", "open the vault", "secret payroll", "text", ""]
MESSAGES = ["open the vault now", "run payroll please", "what time is it", "mix it all"]
CALLS: list[tuple[str, Any]] = [
    *((form.format(name), {}) for form in FORMS for name in NAMES),
    *(("call_mcp_tool", {"tool_name": form.format("hidden")}) for form in FORMS),
    *(("find_tools", {"query": query}) for query in QUERIES),
    ("find_tools", {"detail": ["secret__hidden", "vault__open", "mine__run"]}),
    ("capability", {"action": "list"}),
    *(("capability", {"action": "discover", "intent": text}) for text in MESSAGES),
    *(
        ("capability", {"action": action, "name": name})
        for name in ("vault", "vaul", "hr", "mixed", "time", "boot")
        for action in ("enable", "disable")
    ),
    ("skill", {"action": "list"}),
    ("skill", {"action": "list", "pattern": "heist"}),
    *(
        ("skill", {"action": action, "name": name})
        for name in ("heist", "heis", "closing")
        for action in ("use", "forget")
    ),
    ("read_result", {"handle": "r-0123456789abcdef"}),
]


def _fleet(folder: Path, *, whole: bool, proxy: bool, domain: str | None) -> Fleet:
    """Return a fleet with two agents; `whole` also has what only the other one may see."""
    folder.mkdir()
    fleet = Fleet(folder)
    fleet.settings = Settings(scopes="deny")
    fleet.gate = Gate(kind="octomind", threshold=0.4, margin=0.05)
    extra: list[Grant] = []
    if whole:
        fleet.server("secret", ["hidden", "run", "payroll"])
        fleet.server("vault", ["open", "run"], listed=False, command="vault")
    fleet.server("mine", ["run", "mine_only"])
    fleet.server("clock", ["time"])
    if whole:
        fleet.capability("vault", Grant(server="vault", globs=("*",)), triggers=["open the vault now"])
        fleet.capability("hr", fleet.grant("secret"), triggers=["run payroll please"], domains=("hr",))
        extra = [fleet.grant("secret"), Grant(server="vault", globs=("*",))]
    fleet.capability("mixed", fleet.grant("mine"), *extra, triggers=["mix it all"])
    fleet.capability("time", fleet.grant("clock"), triggers=["what time is it"])
    fleet.capability("boot", fleet.grant("clock"), *extra)
    fleet.skill("closing", "Close the books.", capabilities=("vault", "mixed"))
    if whole:
        fleet.skill("heist", "Take it all.", capabilities=("vault",))
    own = fleet.index("mine/run", "mine/mine_only", "clock/time")
    fleet.agent(
        "clerk",
        domain=domain,
        tools=own,
        direct=fleet.index("mine/run"),
        proxy=proxy,
        capabilities=("mixed", "time"),
        boot=("boot",),
        skills=("closing",),
        confined=True,
    )
    if whole:
        unlisted = (Grant(server="vault", globs=("*",)),)
        fleet.agent("thief", proxy=True, unlisted=unlisted, confined=True, tenants=["acme"])
    return fleet


def _plain(outcome: Any) -> Any:
    if isinstance(outcome, ToolFailure):
        return (outcome.kind, outcome.message, outcome.text, outcome.similar, outcome.retry_after_s)
    return as_mcp_result(outcome)


async def _seen(runtime: Runtime) -> list[Any]:
    """Return all that the agent can find out, in one order."""
    session = runtime.session("clerk")
    found: list[Any] = [session.system_prompt, session.servers_prompt, session.skills_prompt]

    def look(session: Session) -> None:
        found.extend(map(session.tools, FORMATS))
        found.append([attrs.astuple(session.cache_report())])
        found.append(attrs.astuple(session.inspect([{"role": "user", "content": "x"}], budget_tokens=10_000)))
        found.extend(
            [session.capabilities, session.skills, session.kept, session.keep("vault"), session.stop_keeping("vault")]
        )
        found.extend(session.search(query) for query in QUERIES)
        found.extend(attrs.astuple(session.route(text)) for text in MESSAGES)

    look(session)
    for name, arguments in CALLS:
        found.append((name, json.dumps(arguments), _plain(await session.call(name, arguments))))
    look(session)
    found += [attrs.astuple(await session.on_user_message(text)) for text in MESSAGES]
    look(session)
    found.append(await session.connect_unlisted())
    await session.close()
    return found


@pytest.mark.parametrize("joined", [False, True], ids=["unknown", "joined"])
@pytest.mark.parametrize("proxy", [True, False], ids=["proxy", "direct"])
@pytest.mark.parametrize("domain", [None, "finance"])
def test_what_is_out_of_scope_does_not_exist(tmp_path: Path, proxy: bool, domain: str | None, joined: bool) -> None:
    """Tools, schemas, tokens, search, near names, capabilities, skills, routing: the same words in both bundles.

    Also after another agent has connected a server that this one may not see; and no server out of scope is started.
    """
    whole = _fleet(tmp_path / "whole", whole=True, proxy=proxy, domain=domain)
    bare = _fleet(tmp_path / "bare", whole=False, proxy=proxy, domain=domain)

    async def run() -> None:
        async with whole.open() as with_secrets, bare.open() as without:
            if joined:
                thief = with_secrets.session("thief", tenant="acme")
                assert await thief.connect_unlisted() == {}
                assert (await thief.call("vault__open", {})).ok
            connects = {name: whole.servers[name].connects for name in ("secret", "vault")}
            for one, other in zip(await _seen(with_secrets), await _seen(without), strict=True):
                assert one == other
            assert {name: whole.servers[name].connects for name in connects} == connects

    asyncio.run(run())


def test_a_handle_of_another_session_is_one_that_does_not_exist(tmp_path: Path) -> None:
    """`read_result` answers a handle of another session, an invented one and an expired one in the same words."""
    fleet = Fleet(tmp_path)
    fleet.settings = Settings()

    async def long(arguments: Any) -> Any:
        return ToolResult.of_text("x" * 100_000)

    fleet.server("s", {"long": long})
    fleet.agent("clerk", direct=fleet.index("s/long"))

    async def run() -> None:
        async with fleet.open() as runtime:
            mine, other = runtime.session("clerk"), runtime.session("clerk")
            outcome = await mine.call("s__long", {})
            handle = getattr(outcome, "handle", None)
            assert handle is not None
            made_up = "r-" + "a" * (len(handle) - 2)
            theirs = _plain(await other.call("read_result", {"handle": handle}))
            nobodys = _plain(await other.call("read_result", {"handle": made_up}))
            assert json.dumps(theirs).replace(handle, made_up) == json.dumps(nobodys)
            assert (await mine.call("read_result", {"handle": handle})).ok
            await mine.close()
            gone = _plain(await other.call("read_result", {"handle": handle}))
            assert gone == theirs

    asyncio.run(run())
