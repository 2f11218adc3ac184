"""Resources, prompts and completions of backends, as a client of an agent has them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    LOG_LEVEL_META_KEY,
    METHOD_NOT_FOUND,
    ElicitResult,
    EmptyResult,
    InputRequiredResult,
    PromptReference,
    ResourceTemplateReference,
    SetLevelRequest,
    SetLevelRequestParams,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)

from octoc_serve import offers
from octoc_serve.offers import RESOURCE_NOT_FOUND, page_of

Run = Callable[..., None]
in_both_eras = pytest.mark.parametrize("era", ["handshake", "modern"])
WATCHED = "test://watched-resource"
UPDATED = "notifications/resources/updated"


@pytest.fixture(scope="module")
def gateway_of(everything: Any, serving: Callable[..., Any]) -> Callable[[str], Any]:
    """A function that returns the gateway of an agent of everything; each serves the whole module."""
    return lambda agent: serving(everything.bundle, agent)


async def refused(work: Any) -> tuple[int, str]:
    """Return the code and message of the JSON-RPC error that a request ends with."""
    with pytest.raises(MCPError) as error:
        await work
    return error.value.code, error.value.message


@in_both_eras
def test_a_client_lists_and_reads(run: Run, gateway_of: Any, connect: Callable[..., Any], era: str) -> None:
    """Resources keep their URIs, prompts their names; text, bytes, templates, arguments and media pass through."""

    async def scenario() -> None:
        async with connect(era, gateway_of("all")) as heard:
            client = heard.client
            can = client.server_capabilities
            assert can.resources is not None
            assert can.resources.subscribe
            assert can.resources.list_changed
            assert can.prompts is not None
            assert can.completions is not None
            listed = [str(one.uri) for one in (await client.list_resources()).resources]
            assert listed == ["test://static-text", "test://static-binary", WATCHED]
            templates = (await client.list_resource_templates()).resource_templates
            assert [one.uri_template for one in templates] == ["test://template/{id}/data"]
            read = [(await client.read_resource(uri)).contents[0] for uri in (*listed[:2], "test://template/7/data")]
            assert read[0].text == "This is the content of the static text resource."
            assert read[1].blob.startswith("iVBOR")
            assert '"id": "7"' in read[2].text
            assert "test_simple_prompt" in [one.name for one in (await client.list_prompts()).prompts]
            prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
            assert prompt.messages[0].content.text == "Prompt with arguments: arg1='a', arg2='b'"
            assert (await client.get_prompt("test_prompt_with_image")).messages[0].content.mime_type == "image/png"

    run(scenario)


@in_both_eras
def test_a_client_completes_arguments(run: Run, gateway_of: Any, connect: Callable[..., Any], era: str) -> None:
    """Arguments of a prompt and of a template; a prompt that does not exist is an error."""

    async def scenario() -> None:
        async with connect(era, gateway_of("all")) as heard:
            complete = heard.client.complete
            value = {"name": "arg1", "value": "par"}
            prompt = PromptReference(type="ref/prompt", name="test_prompt_with_arguments")
            assert (await complete(prompt, value)).completion.values == ["paris", "park", "party"]
            template = ResourceTemplateReference(type="ref/resource", uri="test://template/{id}/data")
            assert (await complete(template, {"name": "id", "value": "park"})).completion.values == ["park"]
            none = PromptReference(type="ref/prompt", name="none")
            assert (await refused(complete(none, value)))[0] == INVALID_PARAMS

    run(scenario)


@in_both_eras
def test_what_an_agent_may_not_use_is_unknown(run: Run, gateway_of: Any, connect: Callable[..., Any], era: str) -> None:
    """An agent has what its file names; the rest of the server is refused in the words for what exists nowhere."""

    async def scenario() -> None:
        async with connect(era, gateway_of("reader")) as heard:
            client = heard.client
            assert [str(one.uri) for one in (await client.list_resources()).resources] == ["test://static-text"]
            assert (await client.list_resource_templates()).resource_templates == []
            assert [one.name for one in (await client.list_prompts()).prompts] == ["test_simple_prompt"]
            assert (await client.read_resource("test://static-text")).contents
            code = INVALID_PARAMS if era == "modern" else RESOURCE_NOT_FOUND
            for hidden, nowhere in (("test://static-binary", "test://nowhere"), ("test://template/1/data", "x:y")):
                answers = [await refused(client.read_resource(uri)) for uri in (hidden, nowhere)]
                assert answers[0] == (code, answers[1][1].replace(nowhere, hidden))
            answers = [await refused(client.get_prompt(name)) for name in ("test_prompt_with_image", "none")]
            assert answers[0] == (INVALID_PARAMS, answers[1][1].replace("none", "test_prompt_with_image"))

    run(scenario)


@in_both_eras
def test_an_agent_without_offers_has_none_of_the_methods(
    run: Run, gateway_of: Any, connect: Callable[..., Any], era: str
) -> None:
    """It declares no capability for them, and each request is answered as by a server without them."""

    async def scenario() -> None:
        async with connect(era, gateway_of("caller")) as heard:
            client = heard.client
            can = client.server_capabilities
            assert (can.resources, can.prompts, can.completions) == (None, None, None)
            value = {"name": "arg1", "value": ""}
            requests = [
                client.list_resources(),
                client.list_resource_templates(),
                client.read_resource("test://static-text"),
                client.list_prompts(),
                client.get_prompt("test_simple_prompt"),
                client.complete(PromptReference(type="ref/prompt", name="test_simple_prompt"), value),
            ]
            assert {(await refused(request))[0] for request in requests} == {METHOD_NOT_FOUND}

    run(scenario)


@in_both_eras
def test_a_prompt_asks_its_client(run: Run, gateway_of: Any, connect: Callable[..., Any], era: str) -> None:
    """The question of a prompt reaches the client, and its answer the prompt."""

    async def answer(*_: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"context": "octo"})

    async def scenario() -> None:
        async with connect(era, gateway_of("all"), elicitation_callback=answer) as heard:
            prompt = await heard.client.get_prompt("test_input_required_result_prompt")
            assert prompt.messages[0].content.text == "Use this: octo"

    run(scenario)


def test_a_prompts_state_is_good_for_its_prompt_alone(run: Run, gateway_of: Any, connect: Callable[..., Any]) -> None:
    """The state of a prompt that asks is refused for another prompt and for a call."""
    given = {"user_context": ElicitResult(action="accept", content={"context": "octo"})}

    async def answer(*_: Any) -> ElicitResult:
        return ElicitResult(action="decline")

    async def scenario() -> None:
        async with connect("modern", gateway_of("all"), elicitation_callback=answer) as heard:
            session, name = heard.client.session, "test_input_required_result_prompt"
            asked = await session.get_prompt(name, allow_input_required=True)
            assert isinstance(asked, InputRequiredResult)
            again = {"input_responses": given, "request_state": asked.request_state, "allow_input_required": True}
            assert (await refused(session.get_prompt("test_simple_prompt", **again)))[0] == INVALID_PARAMS
            assert (await refused(session.call_tool(name, **again)))[0] == INVALID_PARAMS
            prompt = await session.get_prompt(name, **again)
            assert prompt.messages[0].content.text == "Use this: octo"

    run(scenario)


@in_both_eras
def test_a_client_gets_the_log_messages_that_it_wants(
    run: Run, gateway_of: Any, connect: Callable[..., Any], era: str
) -> None:
    """Without a wish a handshake client gets `info` and above, a modern one nothing; the messages name the server."""
    logged: list[str] = []

    async def hear(params: Any) -> None:
        assert params.logger == "everything"
        logged.append(params.data)

    async def scenario() -> None:
        async with connect(era, gateway_of("all"), logging_callback=hear) as heard:
            await heard.client.call_tool("test_tool_with_logging")
            assert len(logged) == (3 if era == "handshake" else 0)
            logged.clear()
            if era == "handshake":
                request = SetLevelRequest(params=SetLevelRequestParams(level="warning"))
                await heard.client.session.send_request(request, EmptyResult)
                await heard.client.call_tool("test_tool_with_logging")
                assert logged == []
            else:
                await heard.client.call_tool("test_tool_with_logging", meta={LOG_LEVEL_META_KEY: "info"})
                assert logged == ["Tool execution started", "Tool processing data", "Tool execution completed"]

    run(scenario)


@in_both_eras
def test_a_client_gets_the_log_messages_of_reads_and_prompts(
    run: Run, gateway_of: Any, connect: Callable[..., Any], era: str
) -> None:
    """What a backend logs while it reads a resource or fills a prompt comes before the answer."""
    logged: list[tuple[str, str]] = []

    async def hear(params: Any) -> None:
        logged.append((params.logger, params.data))

    async def scenario() -> None:
        wish: Any = {} if era == "handshake" else {"meta": {LOG_LEVEL_META_KEY: "info"}}
        async with connect(era, gateway_of("all"), logging_callback=hear) as heard:
            await heard.client.read_resource("test://template/logged/data", **wish)
            await heard.client.get_prompt("test_prompt_with_arguments", {"arg1": "logged", "arg2": ""}, **wish)
            assert logged == [("everything", "a read"), ("everything", "a prompt")]

    run(scenario)


def test_a_client_of_the_modern_era_hears_of_changes(run: Run, gateway_of: Any, connect: Callable[..., Any]) -> None:
    """Its event stream has the news of the resources that it names, and of no other one."""

    async def scenario() -> None:
        async with (
            connect("modern", gateway_of("all")) as heard,
            heard.client.listen(resource_subscriptions=[WATCHED, "test://nowhere"]) as news,
        ):
            for uri in ("test://static-text", WATCHED):
                await heard.client.call_tool("test_touch_resource", {"uri": uri})
            assert (await anext(aiter(news))).uri == WATCHED

    run(scenario)


def test_a_client_of_the_handshake_era_hears_of_changes(run: Run, gateway_of: Any, connect: Callable[..., Any]) -> None:
    """It hears from the subscription on until it ends it; what it may not subscribe to is unknown."""

    async def scenario() -> None:
        async with connect("handshake", gateway_of("all")) as heard:
            client = heard.client
            await subscribed(client, WATCHED)
            while UPDATED not in heard.news:
                await client.call_tool("test_touch_resource", {"uri": WATCHED})
                await asyncio.sleep(0.05)
            params = UnsubscribeRequestParams(uri=WATCHED)
            await client.session.send_request(UnsubscribeRequest(params=params), EmptyResult)

        async with connect("handshake", gateway_of("reader")) as heard:
            hidden, nowhere = [await refused(subscribed(heard.client, uri)) for uri in (WATCHED, "test://no")]
            assert hidden == (RESOURCE_NOT_FOUND, nowhere[1].replace("test://no", WATCHED))

    run(scenario)


async def subscribed(client: Any, uri: str) -> None:
    """Subscribe to a resource."""
    await client.session.send_request(SubscribeRequest(params=SubscribeRequestParams(uri=uri)), EmptyResult)


def test_a_long_list_has_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Following the cursors gives each entry once, in order; other cursors are refused."""
    monkeypatch.setattr(offers, "PAGE", 3)
    for count in range(8):
        entries, cursor = list(range(count)), None
        found: list[int] = []
        while True:
            page, cursor = page_of(entries, cursor)
            found += page
            if cursor is None:
                break
        assert found == entries
    for cursor in ("", "-1", "x", "9", "٣", "1" * 20):
        with pytest.raises(MCPError) as error:
            page_of([1, 2], cursor)
        assert error.value.code == INVALID_PARAMS
