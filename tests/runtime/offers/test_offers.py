"""Resources, prompts and completions of a session, with real servers in both eras."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from octoc.results import ToolFailure
from octoc.runtime import Completion, LogMessage, LogWish, PromptMessages, ResourceContents, Runtime

if TYPE_CHECKING:
    from tests.runtime.offers.conftest import Offering


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
