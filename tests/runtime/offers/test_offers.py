"""Resources, prompts and completions of a session, with real servers in both eras."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from octoc.plugin import Host
from octoc.results import Caller, ToolFailure
from octoc.runtime import Completion, LogMessage, LogWish, PromptMessages, ResourceContents, Runtime

from .conftest import offers

if TYPE_CHECKING:
    from .conftest import Offering


def test_a_session_lists_reads_and_fills(offering: Offering) -> None:
    """An agent with all of two servers lists their offers, reads resources and fills prompts of both."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        assert [one.uri for one in session.resources()] == [
            "docs://readme", "docs://logo", "notes://readme", "notes://logo",
        ]  # fmt: skip
        assert session.resources()[0].title == "The readme"
        assert [one.uri_template for one in session.resource_templates()] == [
            "docs://pages/{number}", "notes://pages/{number}",
        ]  # fmt: skip
        assert [one.name for one in session.prompts()] == [
            "docs__greet", "docs__review", "notes__greet", "notes__review",
        ]  # fmt: skip
        assert session.server_features == {"completions", "subscribe"}
        read = await session.read_resource("notes://readme")
        assert isinstance(read, ResourceContents)
        assert read.text == "notes://readme of notes"
        of_template = await session.read_resource("docs://pages/3")
        assert isinstance(of_template, ResourceContents)
        assert of_template.text == "docs://pages/3 of docs"
        filled = await session.get_prompt("docs__greet", {"who": "Ada"})
        assert isinstance(filled, PromptMessages)
        assert filled.messages[0]["content"]["text"] == "greet Ada by docs"
        ref = {"type": "ref/prompt", "name": "notes__greet"}
        completed = await session.complete(ref, {"name": "who", "value": "A"}, {"tone": "kind"})
        assert completed == Completion(values=("A-greet", "tone"), total=2)
        ref = {"type": "ref/resource", "uri": "docs://pages/{number}"}
        completed = await session.complete(ref, {"name": "number", "value": "1"})
        assert isinstance(completed, Completion)
        assert completed.values[0] == "1-docs://pages/{number}"

    offering.server("docs").server("notes").run(scenario)


def test_unknown_names_are_not_found(offering: Offering) -> None:
    """A name that no server has fails by octoc's own text, without a connection."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        for outcome in (
            await session.read_resource("other://x"),
            await session.read_resource("no uri"),
            await session.get_prompt("greet"),  # both servers have one
            await session.get_prompt("docs__none"),
            await session.complete({"type": "ref/prompt", "name": "none"}, {"name": "a", "value": ""}),
            await session.complete({"type": "ref/resource", "uri": "other://x"}, {"name": "a", "value": ""}),
        ):
            assert isinstance(outcome, ToolFailure)
            assert outcome.kind == "not_found"
            assert outcome.message.endswith("is not found")
        assert runtime.state.current.pool.servers == ()

    offering.server("docs").server("notes").run(scenario)


def test_a_server_without_a_snapshot_brings_its_offers_when_it_is_connected(offering: Offering) -> None:
    """The offers of an unlisted server join with its tools."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        assert session.resources() == ()
        assert await session.connect_unlisted() == {}
        assert [one.uri for one in session.resources()] == ["docs://readme", "docs://logo"]
        assert (await session.get_prompt("docs__review")).ok

    offering.server("docs", listed=False).run(scenario)


def test_a_subscriber_hears_of_changes_also_after_the_server_died(offering: Offering) -> None:
    """A change is reported until the subscription ends; after a lost connection the resource counts as changed."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        heard: asyncio.Queue[str] = asyncio.Queue()
        uri = "docs://readme"
        assert await session.subscribe(uri, heard.put_nowait) is None
        assert (await session.call("docs__touch", {"uri": uri})).ok
        assert await heard.get() == uri
        assert not (await session.call("docs__touch", {"uri": "exit"})).ok
        assert await heard.get() == uri
        assert (await session.call("docs__touch", {"uri": uri})).ok
        assert await heard.get() == uri
        await session.unsubscribe(uri)
        assert (await session.call("docs__touch", {"uri": uri})).ok
        await session.subscribe("docs://logo", heard.put_nowait)
        assert (await session.call("docs__touch", {"uri": "docs://logo"})).ok
        assert await heard.get() == "docs://logo"
        unknown = await session.subscribe("other://x", heard.put_nowait)
        assert isinstance(unknown, ToolFailure)
        assert unknown.kind == "not_found"
        await session.close()
        assert session.state.loaded.offers.subscriptions.of(session.state.number) == []

    offering.server("docs").run(scenario)


def test_a_subscription_follows_a_reload(offering: Offering) -> None:
    """A session that switches to the next bundle keeps the subscriptions that its agent may still have."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        heard: asyncio.Queue[str] = asyncio.Queue()
        assert await session.subscribe("docs://readme", heard.put_nowait) is None
        assert await session.subscribe("docs://logo", heard.put_nowait) is None
        offering.builder.settings("scopes", profile="allow")
        offering.table("deny", agents=["*"], resources=["docs://logo"])
        built = offering.builder.build()
        assert built.bundle is not None
        await runtime.reload(built.bundle)
        await session.renew()
        for uri in ("docs://logo", "docs://readme"):
            assert (await session.call("docs__touch", {"uri": uri})).ok
        assert await heard.get() == "docs://readme"
        assert heard.empty()
        assert len(session.state.loaded.offers.subscriptions.of(session.state.number)) == 1

    offering.server("docs").run(scenario)


def test_log_messages_reach_the_call_that_wants_them(offering: Offering) -> None:
    """A session hears what its servers log at its level, a call may want others, and a session without a wish none."""

    async def scenario(runtime: Runtime) -> None:
        session, other = runtime.session(), runtime.session()
        heard: list[LogMessage] = []
        session.set_log_level("info", heard.append)
        touch = {"uri": "docs://readme"}
        assert (await session.call("docs__touch", touch)).ok
        assert (await other.call("docs__touch", touch)).ok
        data = {"touched": "docs://readme", "by": "docs"}
        assert heard == [LogMessage(level="warning", data=data, logger="store", server="docs")]
        all_of_one: list[LogMessage] = []
        assert (await session.call("docs__touch", touch, log=LogWish(level="debug", hear=all_of_one.append))).ok
        assert [message.level for message in all_of_one] == ["debug", "warning"]
        session.set_log_level(None)
        assert (await session.call("docs__touch", touch)).ok
        assert len(heard) == 1

    offering.server("docs").run(scenario)


@pytest.mark.parametrize("mode, kind", [("fails", "bad_request"), ("hangs", "timeout"), ("shapes", "protocol")])
def test_a_fault_of_a_server_is_a_value_and_stops_nothing_else(offering: Offering, mode: str, kind: str) -> None:
    """A server that fails, hangs or answers wrong shapes fails its own requests; the other server answers."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        asked = session.read_resource("bad://readme"), session.get_prompt("bad__greet")
        for outcome in await asyncio.gather(*asked):
            assert isinstance(outcome, ToolFailure)
            assert outcome.kind == kind
            assert outcome.rpc_code == (-32603 if mode == "fails" else None)
        assert (await session.read_resource("docs://readme")).ok
        assert (await session.call("bad__touch", {"uri": "bad://readme"})).ok

    timeout = {"timeout": 6} if mode == "hangs" else {}
    offering.builder.settings("servers", bad=timeout)
    offering.server("docs").server("bad", "--mode", mode).run(scenario)


def test_a_resource_or_prompt_that_fails_again_and_again_is_not_asked_for_a_while(offering: Offering) -> None:
    """The refusal names the resource or prompt, and other requests to the server go on."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        for _ in range(2):
            assert not (await session.read_resource("bad://readme")).ok
            assert not (await session.get_prompt("bad__greet")).ok
        read, got = await session.read_resource("bad://readme"), await session.get_prompt("bad__greet")
        assert isinstance(read, ToolFailure)
        assert isinstance(got, ToolFailure)
        assert (read.kind, got.kind) == ("unavailable", "unavailable")
        assert read.message.startswith("resource `bad/bad://readme` failed 2 times in a row; circuit open for ")
        assert got.message.startswith("prompt `bad/greet` failed 2 times in a row; circuit open for ")
        assert (await session.call("bad__touch", {"uri": "bad://readme"})).ok

    offering.builder.settings("runtime", breaker_failures=2).settings("servers", bad={"retry": "never"})
    offering.server("bad", "--mode", "shapes").run(scenario)


def test_a_long_text_is_cut_as_a_result_is(offering: Offering) -> None:
    """A long resource or prompt keeps its shape, says what is missing, and can be read whole by its handle."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        read = await session.read_resource("docs://readme")
        assert isinstance(read, ResourceContents)
        assert read.truncations
        assert len(read.text) < 41_000
        assert all(one["uri"] == "docs://readme" for one in read.contents)
        assert read.handle is not None
        page = await session.call("read_result", {"handle": read.handle, "offset": 60_000})
        assert page.ok
        filled = await session.get_prompt("docs__greet", {"who": "Ada"})
        assert isinstance(filled, PromptMessages)
        assert filled.truncations
        assert sum(len(one["content"]["text"]) for one in filled.messages) < 41_000
        assert {one["role"] for one in filled.messages} == {"user"}

    offering.server("docs", "--mode", "large").run(scenario)


def test_a_question_during_a_request_reaches_the_host(offering: Offering) -> None:
    """A server that asks before it answers a read or a prompt gets the answer of the host."""

    async def elicit(server: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        assert (server, params["message"]) == ("docs", "Which name?")
        return {"action": "accept", "content": {"name": "Ada"}}

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        read = await session.read_resource("docs://readme")
        assert isinstance(read, ResourceContents)
        assert read.text == "for Ada"
        filled = await session.get_prompt("docs__greet")
        assert isinstance(filled, PromptMessages)
        assert filled.messages[0]["content"]["text"] == "greet Ada by docs"

    offering.server("docs", "--mode", "asks").run(scenario, host=Host(elicit=elicit))


def test_requests_count_in_a_quota(offering: Offering) -> None:
    """A quota of calls also limits reads."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        assert (await session.read_resource("docs://readme")).ok
        refused = await session.get_prompt("docs__review")
        assert isinstance(refused, ToolFailure)
        assert refused.kind == "rate_limited"

    offering.builder.settings("quota", calls=1)
    offering.server("docs").run(scenario)


def test_drift_covers_offers(offering: Offering, caplog: pytest.LogCaptureFixture) -> None:
    """A server whose resources are others than recorded is reported like one with other tools."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        assert (await session.call("docs__touch", {"uri": "docs://readme"})).ok
        for _ in range(500):
            if runtime.drift("docs"):
                break
            await asyncio.sleep(0.02)
        drift = runtime.drift("docs")
        assert drift.removed == ("resource docs://gone",)
        assert "resource docs://readme" in drift.changed
        assert "resource docs://gone" in caplog.text

    offering.server("docs")
    lists: Any = offers("docs")
    lists["resources"].append({"uri": "docs://gone", "name": "gone"})
    offering.builder.snapshot("docs", ["touch"], features=("completions",), **lists)
    offering.run(scenario)


def test_a_list_that_breaks_off_removes_no_offer(offering: Offering) -> None:
    """A server that cannot list its prompts again still has them, and its resources, also where changes are refused."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        assert (await session.call("docs__touch", {"uri": "docs://readme"})).ok
        assert (await session.read_resource("docs://readme")).ok
        assert (await session.get_prompt("docs__review")).ok
        assert runtime.drift("docs").removed == ()

    offering.builder.settings("pins", breaking="refuse")
    offering.server("docs", "--mode", "unlisted").run(scenario)


def test_an_agent_of_another_tenant_does_not_exist(offering: Offering) -> None:
    """A caller of another tenant gets for every name what an unknown name gets."""

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session("cfo", tenant="acme")
        assert [one.uri for one in session.resources()] == ["docs://readme", "docs://logo"]
        other = Caller(agent="cfo", tenant="other")
        hidden = await session.read_resource("docs://readme", caller=other)
        unknown = await session.read_resource("docs://nowhere", caller=other)
        assert isinstance(hidden, ToolFailure)
        assert isinstance(unknown, ToolFailure)
        assert hidden.message.replace("readme", "nowhere") == unknown.message
        assert not (await session.get_prompt("docs__greet", caller=other)).ok

    offering.builder.agent("cfo")
    offering.builder.settings("tenants", acme={})
    offering.builder.settings("areas", finance={"tenant": "acme", "agents": ["cfo"]})
    offering.server("docs").run(scenario)


def test_an_offer_that_differs_from_its_pin_is_neither_listed_nor_read(offering: Offering) -> None:
    """Refused offers of each kind leave the lists, and a request for one says which change is refused."""
    offering.builder.settings("pins", breaking="refuse", widening="refuse", wording="refuse")
    recorded: Any = offers("docs")
    recorded["resources"][0]["title"] = "Another title"
    recorded["resourceTemplates"][0]["title"] = "Pages"
    recorded["prompts"][1]["description"] = "Another text"
    # The server also states what a snapshot of the other tests leaves out.
    recorded["resources"][1] |= {"description": "The logo of docs", "mimeType": "image/png"}

    async def scenario(runtime: Runtime) -> None:
        session = runtime.session()
        assert [one.uri for one in session.resources()] == ["docs://readme", "docs://logo"]
        assert isinstance(await session.read_resource("docs://readme"), ToolFailure)
        assert [one.uri for one in session.resources()] == ["docs://logo"]
        assert session.resource_templates() == ()
        assert "docs__review" not in [one.name for one in session.prompts()]
        for asked in (session.read_resource("docs://readme"), session.get_prompt("docs__review")):
            failed = await asked
            assert isinstance(failed, ToolFailure)
            assert failed.kind == "changed"
        assert (await session.read_resource("docs://logo")).ok

    offering.server("docs", listed=False)
    offering.builder.snapshot("docs", ["touch"], features=("completions", "subscribe"), **recorded)
    offering.run(scenario)
