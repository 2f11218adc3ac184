"""For authors of plugins and for users' own tests.

- `WorkspaceBuilder` writes and builds a workspace. `assert_routes` runs fixtures against a bundle.
- `FakeEmbedder` and `ScriptedExplainer` stand in for models, `InProcessPlugin` for every server.
- `EmbedderContract` and `TransportContract` test a plugin: subclass one in a test file.
- `oauth_server` runs an authorization server with a guarded MCP server, on the loopback.
- `identity_provider` runs a provider whose access tokens `octoc serve` accepts, on the loopback.
- `AdapterFleet` is an agent with tools for tests of adapters of frameworks; `BuiltinTools` are tools of a plugin.
- `faulty_http`, `FAULTY_STDIO` and `RawRestServer` are servers with faults. `stdio_script` writes a small server.
- `running_gateway` runs `octoc serve` over HTTP. `forked_octoc` starts `octoc` sooner than `python -m octoc` does.

All modules below are private. A name is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from octoc.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from octoc.routing.fixtures import Fixtures, RoutingFixture, SearchFixture
    from octoc.testing.adapter_fleet import AdapterFleet, build_adapter_fleet, page_examples
    from octoc.testing.authorization import (
        OAUTH_CLIENT_ID,
        OAUTH_CLIENT_SECRET,
        OAuthRequest,
        OAuthServer,
        oauth_server,
    )
    from octoc.testing.contracts import EmbedderContract, TransportContract
    from octoc.testing.embedder import FakeEmbedder, fake_embedder
    from octoc.testing.explainer import ScriptedExplainer
    from octoc.testing.faulty_http_server import Era, FaultyHttpServer, faulty_http, self_signed
    from octoc.testing.faulty_stdio_server import FAULTY_STDIO
    from octoc.testing.fixtures import assert_routes
    from octoc.testing.forks import forked_octoc
    from octoc.testing.gateways import RunningGateway, running_gateway
    from octoc.testing.http_faults import HTTP_FAULTS, ReceivedRequest
    from octoc.testing.in_process import BuiltinTools, InProcessPlugin, echo_tool, in_process_transport
    from octoc.testing.raw_rest_server import (
        REST_TOKEN,
        RawRestServer,
        RestConversation,
        http_response,
        send_and_close,
        send_slowly,
        visit_rest_server,
    )
    from octoc.testing.small_stdio_server import stdio_script
    from octoc.testing.token_issuer import AUDIENCE, IdentityProvider, IssuerKey, identity_provider, new_key
    from octoc.testing.workspace import ToolSpec, WorkspaceBuilder
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "octoc.routing.fixtures": "Fixtures RoutingFixture SearchFixture",
            "octoc.testing.adapter_fleet": "AdapterFleet build_adapter_fleet page_examples",
            "octoc.testing.authorization": "OAUTH_CLIENT_ID OAUTH_CLIENT_SECRET OAuthRequest OAuthServer oauth_server",
            "octoc.testing.contracts": "EmbedderContract TransportContract",
            "octoc.testing.embedder": "FakeEmbedder fake_embedder",
            "octoc.testing.explainer": "ScriptedExplainer",
            "octoc.testing.faulty_http_server": "Era FaultyHttpServer faulty_http self_signed",
            "octoc.testing.faulty_stdio_server": "FAULTY_STDIO",
            "octoc.testing.fixtures": "assert_routes",
            "octoc.testing.forks": "forked_octoc",
            "octoc.testing.gateways": "RunningGateway running_gateway",
            "octoc.testing.http_faults": "HTTP_FAULTS ReceivedRequest",
            "octoc.testing.token_issuer": "AUDIENCE IdentityProvider IssuerKey identity_provider new_key",
            "octoc.testing.in_process": "BuiltinTools InProcessPlugin echo_tool in_process_transport",
            "octoc.testing.raw_rest_server": (
                "REST_TOKEN RawRestServer RestConversation http_response send_and_close send_slowly visit_rest_server"
            ),
            "octoc.testing.small_stdio_server": "stdio_script",
            "octoc.testing.workspace": "ToolSpec WorkspaceBuilder",
        },
    )

__all__ = [
    "AUDIENCE",
    "FAULTY_STDIO",
    "HTTP_FAULTS",
    "OAUTH_CLIENT_ID",
    "OAUTH_CLIENT_SECRET",
    "REST_TOKEN",
    "AdapterFleet",
    "BuiltinTools",
    "EmbedderContract",
    "Era",
    "FakeEmbedder",
    "FaultyHttpServer",
    "Fixtures",
    "IdentityProvider",
    "InProcessPlugin",
    "IssuerKey",
    "OAuthRequest",
    "OAuthServer",
    "RawRestServer",
    "ReceivedRequest",
    "RestConversation",
    "RoutingFixture",
    "RunningGateway",
    "ScriptedExplainer",
    "SearchFixture",
    "ToolSpec",
    "TransportContract",
    "WorkspaceBuilder",
    "assert_routes",
    "build_adapter_fleet",
    "echo_tool",
    "fake_embedder",
    "faulty_http",
    "forked_octoc",
    "http_response",
    "identity_provider",
    "in_process_transport",
    "new_key",
    "oauth_server",
    "page_examples",
    "running_gateway",
    "self_signed",
    "send_and_close",
    "send_slowly",
    "stdio_script",
    "visit_rest_server",
]
