"""A server over Streamable HTTP, in both eras, with what the scenarios of the official conformance suite ask for.

It prints its address.
"""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import warnings
from collections.abc import Mapping
from typing import Any

import mcp_types as types
import uvicorn
from everything_offers import BUS, GONE, PNG, PROMPTS, TOOLS, Call, Unanswered, text
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPDeprecationWarning, MCPError

from octoc_serve.event_history import EventHistory

HINT = CacheHint(ttl_ms=5000, scope="public")
Context = Any
RESOURCES: Mapping[str, tuple[str, str, str]] = {
    "test://static-text": ("static-text", "text/plain", "This is the content of the static text resource."),
    "test://static-binary": ("static-binary", "image/png", PNG),
    "test://watched-resource": ("watched-resource", "text/plain", "Watched resource content."),
}
"""URI -> its name, its type, and its content, which is base64 for a picture."""
BEFORE, BEHIND = "test://template/", "/data"


async def read(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    """Read a resource. That of the template for `logged` logs a message."""
    uri = str(params.uri)
    if uri in RESOURCES:
        _, mime, inside = RESOURCES[uri]
    elif uri.startswith(BEFORE) and uri.endswith(BEHIND):
        number = uri.removeprefix(BEFORE).removesuffix(BEHIND)
        if number == "logged":
            await Call(context, {}, {}, None).log("a read")
        mime = "application/json"
        inside = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
    else:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    content: types.TextResourceContents | types.BlobResourceContents
    if mime == "image/png":
        content = types.BlobResourceContents(uri=uri, mime_type=mime, blob=inside)
    else:
        content = types.TextResourceContents(uri=uri, mime_type=mime, text=inside)
    return types.ReadResourceResult(contents=[content])


async def list_resources(*_: Any) -> types.ListResourcesResult:
    """List the resources."""
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=uri, name=name, description=f"The {name}", mime_type=mime)
            for uri, (name, mime, _) in RESOURCES.items()
        ]
    )


async def list_templates(*_: Any) -> types.ListResourceTemplatesResult:
    """List the templates."""
    only = types.ResourceTemplate(
        uri_template=f"{BEFORE}{{id}}{BEHIND}", name="template", description="By number", mime_type="application/json"
    )
    return types.ListResourceTemplatesResult(resource_templates=[only])


# --- the server ---------------------------------------------------------------------------------------------------


async def call_tool(
    context: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    """Call a tool."""
    if params.name not in TOOLS or params.name in GONE:
        raise MCPError(types.INVALID_PARAMS, f"unknown tool: {params.name}")
    call = Call(context, params.arguments or {}, params.input_responses or {}, params.request_state)
    try:
        content = await TOOLS[params.name][1](call)
    except Unanswered as unanswered:
        return unanswered.result
    except ValueError as error:
        return types.CallToolResult(content=[text(str(error))], is_error=True)
    return content if isinstance(content, types.CallToolResult) else types.CallToolResult(content=content)


async def get_prompt(
    context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    """Get a prompt."""
    if params.name not in PROMPTS or params.name in GONE:
        raise MCPError(types.INVALID_PARAMS, f"unknown prompt: {params.name}")
    call = Call(context, params.arguments or {}, params.input_responses or {}, params.request_state)
    try:
        parts = await PROMPTS[params.name][1](call)
    except Unanswered as unanswered:
        return unanswered.result
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=part) for part in parts])


async def complete(_: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Complete an argument."""
    values = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


async def list_tools(*_: Any) -> types.ListToolsResult:
    """List the tools."""
    return types.ListToolsResult(tools=[listed for name, (listed, _) in TOOLS.items() if name not in GONE])


async def list_prompts(*_: Any) -> types.ListPromptsResult:
    """List the prompts."""
    return types.ListPromptsResult(prompts=[listed for name, (listed, _) in PROMPTS.items() if name not in GONE])


async def accept(*_: Any) -> types.EmptyResult:
    """Accept a request."""
    return types.EmptyResult()


def server() -> Server[Any]:
    """Return the server."""
    with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
        return Server(
            "everything",
            version="1",
            cache_hints=dict.fromkeys(
                ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"), HINT
            ),
            on_list_tools=list_tools,
            on_call_tool=call_tool,
            on_list_resources=list_resources,
            on_list_resource_templates=list_templates,
            on_read_resource=read,
            on_subscribe_resource=accept,
            on_unsubscribe_resource=accept,
            on_list_prompts=list_prompts,
            on_get_prompt=get_prompt,
            on_completion=complete,
            on_set_logging_level=accept,
            on_subscriptions_listen=ListenHandler(BUS),
        )


async def main() -> None:
    """Serve on a free port of this machine until the process ends."""
    logging.disable(logging.CRITICAL)
    app = server().streamable_http_app(event_store=EventHistory(), retry_interval=100)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)  # noqa: T201  # for the test
        await uvicorn.Server(uvicorn.Config(app, log_config=None)).serve(sockets=[listening])


if __name__ == "__main__":
    asyncio.run(main())
