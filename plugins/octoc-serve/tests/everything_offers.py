"""The tools and prompts of `everything_server.py`.

They ask their questions by requests in the handshake era, and by input rounds in the modern one.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import attrs
import mcp_types as types
from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d494844520000000100000001080600000"
        "01f15c4890000000d4944415478da63fccff0bf1e000584027f8d5a3d3a0000000049454e44ae426082"
    )
).decode()
WAV = base64.b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"
).decode()
KEY = b"only for tests"
STEP_S = 0.05

Part = types.ContentBlock
RESULTS: Mapping[str, type[types.Result]] = {
    "elicitation/create": types.ElicitResult,
    "sampling/createMessage": types.CreateMessageResult,
    "roots/list": types.ListRootsResult,
}


def text(words: str) -> types.TextContent:
    """Return a text part."""
    return types.TextContent(type="text", text=words)


def image() -> types.ImageContent:
    """Return a picture of one pixel."""
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, words: str, mime: str = "text/plain") -> types.EmbeddedResource:
    """Return a resource as a part."""
    inside = types.TextResourceContents(uri=uri, mime_type=mime, text=words)
    return types.EmbeddedResource(type="resource", resource=inside)


def form(message: str, required: tuple[str, ...] | None = None, **properties: Any) -> types.ElicitRequest:
    """Return a question for the user; every property is required unless `required` says otherwise."""
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
    }
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def completion(words: str, most: int) -> types.CreateMessageRequest:
    """Return a request for a completion."""
    asked = types.SamplingMessage(role="user", content=text(words))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[asked], max_tokens=most))


STRING = {"type": "string"}
NAME: dict[str, Any] = {"name": STRING}


class Unanswered(Exception):  # noqa: N818  # it ends a round, as asked
    """A modern client has to answer these requests first."""

    def __init__(self, requests: Mapping[str, types.InputRequest], state: str | None) -> None:
        super().__init__()
        self.result = types.InputRequiredResult(input_requests=dict(requests), request_state=state)


@attrs.frozen
class Call:
    """A request for a tool or prompt: its arguments, and what a modern client sent with them."""

    context: Any
    arguments: Mapping[str, Any]
    answers: Mapping[str, Any]
    state: str | None

    @property
    def is_modern(self) -> bool:
        return self.context.protocol_version in MODERN_PROTOCOL_VERSIONS

    async def ask(self, state: str | None = None, **requests: types.InputRequest) -> dict[str, Any]:
        """Return the client's answers. Raises: Unanswered, if a modern client must answer first."""
        if self.is_modern:
            if self.answers.keys() >= requests.keys():
                return {name: self.answers[name] for name in requests}
            raise Unanswered(requests, state)
        related = ServerMessageMetadata(related_request_id=self.context.request_id)
        return {
            name: await self.context.session.send_request(request, RESULTS[request.method], metadata=related)
            for name, request in requests.items()
        }

    async def log(self, words: str) -> None:
        with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
            await self.context.session.send_log_message("info", words, related_request_id=self.context.request_id)


Run = Callable[[Call], Awaitable[Any]]
TOOLS: dict[str, tuple[types.Tool, Run]] = {}
PROMPTS: dict[str, tuple[types.Prompt, Run]] = {}
GONE: set[str] = set()
"""The tools and prompts that are not listed now."""
BUS = InMemorySubscriptionBus()
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": STRING, "city": STRING}}},
    "properties": {
        "name": STRING,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": STRING,
        "email": STRING,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def always(parts: list[Any]) -> Run:
    """Return a function that returns the same parts for each call."""

    async def run(_: Call) -> list[Any]:
        return parts

    return run


def tool(schema: Mapping[str, Any] | None = None, name: str = "", **arguments: Any) -> Callable[[Run], Run]:
    """Register a tool under `name`, or under its function's name after `test_`."""

    def register(run: Run) -> Run:
        named = name or f"test_{run.__name__}"
        inside = dict(schema or {"type": "object", "properties": arguments})
        listed = types.Tool(name=named, description=run.__doc__, input_schema=inside)
        if run.__name__ == "structured_content":
            listed.output_schema = {"type": "object", "properties": {"answer": STRING}, "required": ["answer"]}
        TOOLS[named] = (listed, run)
        return run

    return register


def prompt(*arguments: str) -> Callable[[Run], Run]:
    """Register a prompt under its function's name after `test_`."""

    def register(run: Run) -> Run:
        named = [types.PromptArgument(name=one, description=f"The {one}", required=True) for one in arguments]
        name = f"test_{run.__name__}"
        PROMPTS[name] = (types.Prompt(name=name, description=run.__doc__, arguments=named or None), run)
        return run

    return register


# --- tools --------------------------------------------------------------------------------------------------------

FIXED: Mapping[str, list[Part]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [embedded("test://embedded-resource", "This is an embedded resource content.")],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", '{"test": "data", "value": 123}', "application/json"),
    ],
    "test_dynamic_tool": [text("here")],
}
"""Tools that always return the same."""
for fixed, parts in FIXED.items():
    TOOLS[fixed] = (
        types.Tool(name=fixed, description="Returns the same", input_schema={"type": "object"}),
        always(parts),
    )


@tool()
async def structured_content(_: Call) -> types.CallToolResult:
    """Returns structured content with a schema."""
    return types.CallToolResult(content=[text('{"answer": "yes"}')], structured_content={"answer": "yes"})


@tool()
async def tool_with_logging(call: Call) -> list[Part]:
    """Logs three messages."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await call.log(words)
        await asyncio.sleep(STEP_S)
    return [text("logged")]


@tool()
async def logging_tool(call: Call) -> list[Part]:
    """Logs a message, which a modern client gets only if it asks for it."""
    await call.log("a message")
    return [text("logged")]


@tool()
async def tool_with_progress(call: Call) -> list[Part]:
    """Reports three steps."""
    for done in (0, 50, 100):
        await call.context.session.report_progress(done, 100, f"{done} of 100")
        await asyncio.sleep(STEP_S)
    return [text("done")]


@tool()
async def reconnection(call: Call) -> list[Part]:
    """Closes the stream of its own call, which the client then resumes."""
    await call.log("before")
    if call.context.close_sse_stream is not None:
        await call.context.close_sse_stream()
    await asyncio.sleep(STEP_S)
    return [text("resumed")]


@tool()
async def error_handling(_: Call) -> list[Part]:
    """Fails."""
    raise ValueError("This tool intentionally returns an error for testing")


@tool(region={"type": "string", "x-mcp-header": "Region"})
async def x_mcp_header(call: Call) -> list[Part]:
    """Returns an argument that is repeated as a header."""
    return [text(f"region={call.arguments.get('region')}")]


@tool(SCHEMA, "json_schema_2020_12_tool")
async def json_schema(_: Call) -> list[Part]:
    """Has a schema with many keywords."""
    return [text("fits")]


@tool()
async def missing_capability(call: Call) -> list[Part]:
    """Needs a client that completes texts."""
    can = call.context.session.client_capabilities
    if can is None or can.sampling is None:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "it needs a model", needed)
    return [text("the client can")]


@tool(prompt=STRING)
async def sampling(call: Call) -> list[Part]:
    """Asks for a completion."""
    answers = await call.ask(reply=completion(call.arguments["prompt"], 100))
    return [text(f"LLM response: {answers['reply'].content.text}")]


@tool(message=STRING)
async def elicitation(call: Call) -> list[Part]:
    """Asks the user for a name and an address."""
    asked = form(
        call.arguments["message"],
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return answered((await call.ask(user=asked))["user"])


def answered(answer: types.ElicitResult) -> list[Part]:
    """Return the user's answer as text."""
    return [text(f"User response: action={answer.action}, content={json.dumps(answer.content)}")]


@tool()
async def elicitation_sep1034_defaults(call: Call) -> list[Part]:
    """Asks with a default for each primitive type."""
    asked = form(
        "Please fill in",
        required=(),
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return answered((await call.ask(user=asked))["user"])


@tool()
async def elicitation_sep1330_enums(call: Call) -> list[Part]:
    """Asks with each form of a choice."""
    plain = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
    legacy = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]}
    asked = form(
        "Please choose",
        untitledSingle={"type": "string", "enum": plain},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={"type": "string", **legacy},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": plain}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    return answered((await call.ask(user=asked))["user"])


@tool()
async def streaming_elicitation(call: Call) -> list[Part]:
    """Reports a step, and then asks."""
    await call.context.session.report_progress(1, 2)
    return answered((await call.ask(user=form("Which name?", **NAME)))["user"])


# --- input rounds of the modern era -------------------------------------------------------------------------------


@tool()
async def input_required_result_elicitation(call: Call) -> list[Part]:
    """Asks for a name."""
    answers = await call.ask(user_name=form("What is your name?", **NAME))
    return [text(f"Hello, {(answers['user_name'].content or {}).get('name')}!")]


@tool()
async def input_required_result_sampling(call: Call) -> list[Part]:
    """Asks for a completion."""
    answers = await call.ask(capital_question=completion("What is the capital of France?", 100))
    return [text(answers["capital_question"].content.text)]


@tool()
async def input_required_result_list_roots(call: Call) -> list[Part]:
    """Asks for the roots."""
    answers = await call.ask(client_roots=types.ListRootsRequest())
    return [text(", ".join(str(root.uri) for root in answers["client_roots"].roots))]


@tool()
async def input_required_result_request_state(call: Call) -> list[Part]:
    """Asks, and reads its own state from the answer."""
    await call.ask(confirmed(), confirm=form("Please confirm", ok={"type": "boolean"}))
    require_state(call)
    return [text("state-ok")]


@tool()
async def input_required_result_tampered_state(call: Call) -> list[Part]:
    """Asks, and refuses a state that is not its own."""
    if call.state is not None:
        require_state(call)
    await call.ask(confirmed(), confirm=form("Please confirm", ok={"type": "boolean"}))
    return [text("state-ok")]


def confirmed(words: str = "confirmed") -> str:
    """Return a state with its signature."""
    return f"{words}.{hmac.new(KEY, words.encode(), hashlib.sha256).hexdigest()}"


def require_state(call: Call) -> None:
    """Raises: MCPError, if the client changed the state."""
    words = (call.state or "").rpartition(".")[0]
    if not hmac.compare_digest(call.state or "", confirmed(words)):
        raise MCPError(types.INVALID_PARAMS, "the request state is not of this server")


@tool()
async def input_required_result_multiple_inputs(call: Call) -> list[Part]:
    """Asks for three things at once."""
    await call.ask(
        confirmed(),
        user_name=form("What is your name?", **NAME),
        greeting=completion("Generate a greeting", 50),
        client_roots=types.ListRootsRequest(),
    )
    return [text("all is there")]


@tool()
async def input_required_result_multi_round(call: Call) -> list[Part]:
    """Asks twice; the second round's state has the first answer."""
    before = json.loads(call.state) if call.state else {}
    if "name" not in before:
        answers = await call.ask(json.dumps({"round": 1}), step1=form("Step 1: What is your name?", **NAME))
        before = {"name": (answers["step1"].content or {}).get("name")}
    colour = form("Step 2: What is your favorite color?", color=STRING)
    answers = await call.ask(json.dumps(before), step2=colour)
    return [text(f"{before['name']} likes {(answers['step2'].content or {}).get('color')}")]


@tool()
async def input_required_result_capabilities(call: Call) -> list[Part]:
    """Asks only what the client can answer."""
    can = call.context.session.client_capabilities or types.ClientCapabilities()
    requests: dict[str, types.InputRequest] = {}
    if can.sampling is not None:
        requests["completion"] = completion("Say hello", 50)
    if can.elicitation is not None:
        requests["user_name"] = form("What is your name?", **NAME)
    await call.ask(confirmed(), **requests)
    return [text("all is there")]


# --- lists that change --------------------------------------------------------------------------------------------


@tool()
async def trigger_tool_change(call: Call) -> list[Part]:
    """Removes a tool from the list, or adds it again."""
    GONE.symmetric_difference_update({"test_dynamic_tool"})
    await BUS.publish(ToolsListChanged())
    if not call.is_modern:
        await call.context.session.send_tool_list_changed()
    return [text("changed")]


@tool()
async def trigger_prompt_change(call: Call) -> list[Part]:
    """Removes a prompt from the list, or adds it again."""
    GONE.symmetric_difference_update({"test_dynamic_prompt"})
    await BUS.publish(PromptsListChanged())
    if not call.is_modern:
        await call.context.session.send_prompt_list_changed()
    return [text("changed")]


@tool(uri=STRING)
async def touch_resource(call: Call) -> list[Part]:
    """Reports that a resource changed."""
    await BUS.publish(ResourceUpdated(uri=call.arguments["uri"]))
    if not call.is_modern:
        await call.context.session.send_resource_updated(call.arguments["uri"])
    return [text("changed")]


# --- prompts ------------------------------------------------------------------------------------------------------

FIXED_PROMPTS: Mapping[str, list[Part]] = {
    "test_simple_prompt": [text("This is a simple prompt for testing.")],
    "test_prompt_with_image": [image(), text("Please analyze the image above.")],
    "test_dynamic_prompt": [text("here")],
}
for fixed, parts in FIXED_PROMPTS.items():
    PROMPTS[fixed] = (types.Prompt(name=fixed, description="Always the same"), always(parts))


@prompt("arg1", "arg2")
async def prompt_with_arguments(call: Call) -> list[Part]:
    """Repeats its arguments, and logs a message for `logged`."""
    if call.arguments["arg1"] == "logged":
        await call.log("a prompt")
    return [text(f"Prompt with arguments: arg1='{call.arguments['arg1']}', arg2='{call.arguments['arg2']}'")]


@prompt("resourceUri")
async def prompt_with_embedded_resource(call: Call) -> list[Part]:
    """Has a resource in it."""
    inside = embedded(call.arguments["resourceUri"], "Embedded resource content for testing.")
    return [inside, text("Please process the embedded resource above.")]


@prompt()
async def input_required_result_prompt(call: Call) -> list[Part]:
    """Asks for its context."""
    answers = await call.ask(user_context=form("What context should the prompt use?", context=STRING))
    return [text(f"Use this: {(answers['user_context'].content or {}).get('context')}")]
