"""A server of the SDK with resources, a template, prompts and completions: `offering_server.py [--handshake] [--http]`.

It speaks stdio, or Streamable HTTP on a free port, which it prints.

Its tool `touch` logs, and reports a change of the resource whose URI it gets; the URI `exit` ends the server. `--name
NAME` is in its texts, and `--mode MODE` misbehaves: `fails` answers every read and prompt with an error, `hangs` never
answers, `unlisted` lists no prompts, `shapes` answers wrong shapes, `large` answers a long text, `asks` asks for a name
before it answers.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
from typing import Any, Self

import anyio
import mcp_types as types
import uvicorn
from mcp.server import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

NAME = {"type": "object", "properties": {"name": {"type": "string"}}}
LARGE = "0123456789" * 20_000


class Offering:
    """The server's handlers."""

    def __init__(self, name: str, mode: str, *, handshake: bool) -> None:
        self.name, self.mode, self.handshake = name, mode, handshake
        self.bus = InMemorySubscriptionBus()
        self.subscribed: set[str] = set()

    async def tools(self, *_: Any) -> types.ListToolsResult:
        """List the only tool."""
        return types.ListToolsResult(tools=[types.Tool(name="touch", input_schema={"type": "object"})])

    async def call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Report a change of a resource."""
        uri = (params.arguments or {})["uri"]
        if uri == "exit":
            os._exit(1)
        for level in ("debug", "warning"):
            data = {"touched": uri, "by": self.name}
            await context.session.send_log_message(level, data, "store", related_request_id=context.request_id)
        if not self.handshake:
            await self.bus.publish(ResourceUpdated(uri=uri))
        elif uri in self.subscribed:
            await context.session.send_resource_updated(uri)
        return types.CallToolResult(content=[types.TextContent(type="text", text="touched")])

    async def resources(self, _: Any, params: Any) -> types.ListResourcesResult:
        """List two resources on two pages."""
        first = params is None or params.cursor is None
        name = "readme" if first else "logo"
        item = types.Resource(
            name=name,
            title=f"The {name}",
            uri=f"{self.name}://{name}",
            description=f"The {name} of {self.name}",
            mime_type="text/plain" if first else "image/png",
            _meta={"example.com/owner": self.name},
        )
        return types.ListResourcesResult(resources=[item], next_cursor="2" if first else None)

    async def templates(self, *_: Any) -> types.ListResourceTemplatesResult:
        """List the template."""
        page = types.ResourceTemplate(name="page", uri_template=f"{self.name}://pages/{{number}}")
        return types.ListResourceTemplatesResult(resource_templates=[page])

    async def read(self, context: Any, params: types.ReadResourceRequestParams) -> Any:
        """Read a resource."""
        await self._misbehave()
        if self.mode == "asks" and (who := await self._asked(context, params)) is not None:
            if isinstance(who, types.InputRequiredResult):
                return who
            return self._text(params.uri, f"for {who}")
        if params.uri.endswith("://logo"):
            blob = types.BlobResourceContents(uri=params.uri, mime_type="image/png", blob="iVBORw0K")
            return types.ReadResourceResult(contents=[blob])
        if params.uri.startswith((f"{self.name}://readme", f"{self.name}://pages/")):
            return self._text(params.uri, LARGE if self.mode == "large" else f"{params.uri} of {self.name}")
        raise MCPError(-32002, f"no resource {params.uri}", {"uri": params.uri})

    def _text(self, uri: str, text: str) -> types.ReadResourceResult:
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)]
        )

    async def prompts(self, *_: Any) -> types.ListPromptsResult:
        """List the prompts."""
        if self.mode == "unlisted":
            raise MCPError(types.INTERNAL_ERROR, "the prompts cannot be listed")
        who = types.PromptArgument(name="who", description="Whom to greet", required=True)
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(name="greet", title="Greeting", description=f"Greets by {self.name}", arguments=[who]),
                types.Prompt(name="review"),
            ]
        )

    async def prompt(self, context: Any, params: types.GetPromptRequestParams) -> Any:
        """Return a prompt's messages."""
        await self._misbehave()
        who = (params.arguments or {}).get("who", "you")
        if self.mode == "asks":
            asked = await self._asked(context, params)
            if isinstance(asked, types.InputRequiredResult):
                return asked
            who = asked
        if params.name not in ("greet", "review"):
            raise MCPError(types.INVALID_PARAMS, f"no prompt {params.name}")
        text = LARGE if self.mode == "large" else f"{params.name} {who} by {self.name}"
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description="A greeting", messages=[message])

    async def complete(self, _: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete an argument from what it is and what is known."""
        known = ",".join(sorted((params.context.arguments or {}) if params.context else {}))
        ref = params.ref.name if isinstance(params.ref, types.PromptReference) else params.ref.uri
        values = [f"{params.argument.value}-{ref}", known]
        return types.CompleteResult(completion=types.Completion(values=values, total=2, has_more=False))

    async def subscribe(self, _: Any, params: Any) -> types.EmptyResult:
        """Note a subscription."""
        self.subscribed.add(params.uri)
        return types.EmptyResult()

    async def unsubscribe(self, _: Any, params: Any) -> types.EmptyResult:
        """Forget a subscription."""
        self.subscribed.discard(params.uri)
        return types.EmptyResult()

    async def level(self, *_: Any) -> types.EmptyResult:
        """Accept a level of log messages; each call sends all of them."""
        return types.EmptyResult()

    async def _misbehave(self) -> None:
        if self.mode == "fails":
            raise MCPError(types.INTERNAL_ERROR, "the store is closed")
        if self.mode == "hangs":
            await anyio.sleep_forever()

    async def _asked(self, context: Any, params: Any) -> Any:
        """Return the name that the user gave, or the result that asks for it."""
        form = types.ElicitRequestFormParams(message="Which name?", requested_schema=NAME)
        if self.handshake:
            answer = await context.session.elicit_form("Which name?", NAME, related_request_id=context.request_id)
            return (answer.content or {}).get("name", answer.action)
        given = (params.input_responses or {}).get("name")
        if given is None:
            return types.InputRequiredResult(
                input_requests={"name": types.ElicitRequest(params=form)}, request_state="asked"
            )
        return (given.content or {}).get("name", given.action)

    def server(self) -> Server[Any]:
        """Return the server."""
        era: dict[str, Any] = (
            {"on_subscribe_resource": self.subscribe, "on_unsubscribe_resource": self.unsubscribe}
            if self.handshake
            else {"on_subscriptions_listen": ListenHandler(self.bus)}
        )
        return Server(
            self.name,
            on_list_tools=self.tools,
            on_call_tool=self.call,
            on_list_resources=self.resources,
            on_list_resource_templates=self.templates,
            on_read_resource=self.read,
            on_list_prompts=self.prompts,
            on_get_prompt=self.prompt,
            on_completion=self.complete,
            on_set_logging_level=self.level,
            **era,
        )


class WrongShapes:
    """A server's stream whose answers to reads and prompts have wrong shapes, which the SDK would not send."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.inner.aclose()

    async def aclose(self) -> None:
        """Close the stream."""
        await self.inner.aclose()

    async def send(self, item: Any) -> None:
        """Send a message, with a number in the place of its contents or messages."""
        result = getattr(item.message, "result", None) or {}
        for key in result.keys() & {"contents", "messages"}:
            result[key] = 5
        await self.inner.send(item)


async def serve_http(server: Server[Any], *, handshake: bool) -> None:
    """Serve Streamable HTTP until killed. A server of the handshake era does not know `server/discover`."""
    manager = StreamableHTTPSessionManager(server)

    async def serve(scope: Any, receive: Any, send: Any) -> None:
        body = (await receive()).get("body", b"") if scope["method"] == "POST" else b""
        if handshake and json.loads(body or b"{}").get("method") == "server/discover":
            await send({"type": "http.response.start", "status": 400, "headers": []})
            await send({"type": "http.response.body", "body": b"Bad Request: no session"})
            return
        first = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Any:
            return next(first, None) or await receive()

        await manager.handle_request(scope, again if body else receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)  # noqa: T201  # the test reads it
    async with manager.run():
        config = uvicorn.Config(serve, log_level="critical", lifespan="off")
        await uvicorn.Server(config).serve(sockets=[listener])


async def main() -> None:
    """Serve until stdin ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--name", default="docs")
    parser.add_argument("--mode", default="")
    parser.add_argument("--handshake", action="store_true")
    parser.add_argument("--http", action="store_true")
    chosen = parser.parse_args()
    server = Offering(chosen.name, chosen.mode, handshake=chosen.handshake).server()
    if chosen.http:
        await serve_http(server, handshake=chosen.handshake)
        return
    async with stdio_server() as (source, stdout):
        sink: Any = WrongShapes(stdout) if chosen.mode == "shapes" else stdout
        if not chosen.handshake:
            await server.run(source, sink, server.create_initialization_options())
            return
        async with server.lifespan(server) as state:
            options = server.create_initialization_options()
            await serve_loop(server, source, sink, lifespan_state=state, init_options=options)


if __name__ == "__main__":
    anyio.run(main)
