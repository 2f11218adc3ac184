"""Pages that plugins add to the gateway: which page answers, and that none gets around the gateway's tokens."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse

from octoc.plugin import AGENTS, AgentAccess, Application, PageAccess, ToolFilter, WebPage
from octoc.plugin.toolkit import install_command
from octoc.runtime import Runtime
from octoc.testing import running_gateway
from octoc_serve.admission import Admission
from octoc_serve.http import HttpApp
from octoc_serve.server import GatewayServer
from octoc_serve.session_store import MemorySessionStore
from octoc_serve.settings import GatewaySettings
from octoc_serve.tokens import Tokens

SECRET = "a-value-of-a-request"
WITHOUT_DASHBOARD = """
import importlib.metadata, sys
found = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **asked: [one for one in found(**asked) if one.name != "dashboard"]
from octoc.cli import main
sys.exit(main())
"""


@attrs.define
class Site:
    """Applications of pages. `access` is what the last one was made with, `requests` the paths that reached one."""

    requests: list[str] = attrs.field(factory=list)
    access: PageAccess | None = None
    agents: tuple[AgentAccess, ...] = ()

    def named(self, name: str) -> Any:
        """Return what makes an application that answers with its name and the agents in the scope."""

        def make(access: PageAccess) -> Application:
            self.access = access

            async def application(scope: Any, receive: Any, send: Any) -> None:
                request = Request(scope)
                self.requests.append(request.url.path)
                self.agents = scope.get(AGENTS, ())
                if request.url.path.endswith("fault"):
                    raise RuntimeError(SECRET)
                answer = JSONResponse({"page": name, "agents": [agent.name for agent in self.agents]})
                await answer(scope, receive, send)

            return application

        return make


@attrs.frozen
class Gateway:
    """An HTTP application with pages, over a real runtime; `ask` returns status, headers and JSON."""

    app: HttpApp
    tokens: Tokens

    async def ask(self, path: str, **headers: str) -> tuple[int, dict[str, str], Any]:
        given = {"host": "127.0.0.1", **headers}
        raw = [(name.encode(), value.encode()) for name, value in given.items()]
        scope = {"type": "http", "method": "GET", "path": path, "headers": raw, "query_string": b"", "scheme": "http"}
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        got = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], got, json.loads(b"".join(one["body"] for one in sent[1:]))


@contextlib.asynccontextmanager
async def gateway(root: Path, tokens: Tokens, *pages: WebPage) -> AsyncIterator[Gateway]:
    """A gateway of the workspace's bundle."""
    (bundle,) = (root / "dist").glob("*.octoc")
    async with Runtime.open(bundle, workspace=root) as runtime:
        settings = GatewaySettings(bundle=bundle, transport="http")
        gateway = GatewayServer(runtime, MemorySessionStore(9, None))
        yield Gateway(HttpApp(gateway, settings, Admission(runtime, settings, tokens, tokens.read()), pages), tokens)


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    """A file without tokens."""
    return Tokens(tmp_path / "tokens.json")


def run(scenario: Any) -> None:
    """Run a coroutine to its end."""
    asyncio.run(asyncio.wait_for(scenario, 300))


def test_a_page_is_for_token_holders_unless_it_says_otherwise(root: Path, tokens: Tokens) -> None:
    """Without a token, with an unknown one, or one of an agent that is not there, the page is never called."""
    _, clerk = tokens.add("clerk")
    _, stranger = tokens.add("no-such-agent")
    site = Site()

    async def scenario() -> None:
        async with gateway(root, tokens, WebPage(prefix="/reports/", make=site.named("reports"))) as served:
            for headers in ({}, *({"authorization": f"Bearer {text}"} for text in ("octoc_wrong", stranger, ""))):
                status, got, _ = await served.ask("/reports/x", **headers)
                assert (status, got["www-authenticate"]) == (401, "Bearer")
            assert site.requests == []
            status, _, answer = await served.ask("/reports/x", authorization=f"Bearer {clerk}")
            assert (status, answer) == (200, {"page": "reports", "agents": ["clerk"]})

    run(scenario())


def test_a_page_with_a_sign_in_reads_nothing_without_a_token(root: Path, tokens: Tokens) -> None:
    """It is called for every visitor, and gets no agent until it has a token that is good for one."""
    _, clerk = tokens.add("clerk")
    site = Site()

    async def scenario() -> None:
        async with gateway(root, tokens, WebPage(prefix="/", make=site.named("home"), access="sign-in")) as served:
            status, _, answer = await served.ask("/x")
            assert (status, answer["agents"]) == (200, [])
            assert site.access is not None
            assert [site.access.agents(token) for token in (None, "octoc_wrong", "")] == [(), (), ()]
            (agent,) = site.access.agents(clerk)
            overview = await agent.overview(ToolFilter())
            assert {tool.server for tool in overview.tools} <= {"plain", "octoc"}

    run(scenario())


def test_what_a_page_holds_ends_with_its_token(root: Path, tokens: Tokens) -> None:
    """An agent that a page kept from an earlier request cannot be read after the token was revoked."""
    entry, clerk = tokens.add("clerk")
    site = Site()

    async def scenario() -> None:
        async with gateway(root, tokens, WebPage(prefix="/reports/", make=site.named("reports"))) as served:
            await served.ask("/reports/", authorization=f"Bearer {clerk}")
            (agent,) = site.agents
            await agent.overview(ToolFilter())
            tokens.revoke(entry.id)
            await served.app.renew_tokens()
            for read in (agent.overview(ToolFilter()), agent.route("what time is it")):
                with pytest.raises(LookupError):
                    await read

    run(scenario())


def test_without_tokens_a_page_has_the_agents_that_everybody_has(root: Path, tokens: Tokens) -> None:
    """On this machine alone, where MCP clients need no token, a page needs none either."""
    site = Site()

    async def scenario() -> None:
        async with gateway(root, tokens, WebPage(prefix="/reports/", make=site.named("reports"))) as served:
            assert (await served.ask("/reports/"))[2]["agents"] == ["supervisor"]
            assert (await served.ask("/reports/", host="evil.example"))[0] == 403
            assert (await served.ask("/reports/", origin="https://evil.example"))[0] == 403
            assert site.requests == ["/reports/"]

    run(scenario())


def test_no_page_takes_a_path_of_the_gateway(root: Path, tokens: Tokens) -> None:
    """Probes and MCP stay the gateway's own, whatever prefix a page has; the page with the longest prefix answers."""
    site = Site()
    prefixes = ("/", "/mcp/", "/agents/", "/agents/clerk/", "/healthz/", "/reports/", "/reports/deep/")
    pages = [WebPage(prefix=prefix, make=site.named(prefix), access="sign-in") for prefix in prefixes]
    tokens.add("clerk")

    async def scenario() -> None:
        async with gateway(root, tokens, *pages) as served:
            assert (await served.ask("/healthz"))[2] == {"status": "ok"}
            assert (await served.ask("/readyz"))[0] == 200
            for path in ("/mcp", "/agents/clerk/mcp"):
                assert (await served.ask(path))[0] == 401
            assert site.requests == []
            for path in ("/reports/deep/x", "/reports/x", "/reports", "/agents/clerk/x"):
                answer = (await served.ask(path))[2]
                assert answer["page"] == max((one for one in prefixes if path.startswith(one)), key=len)

    run(scenario())


def test_a_page_that_fails_is_answered_and_logged(root: Path, tokens: Tokens, caplog: pytest.LogCaptureFixture) -> None:
    """A visitor gets 500 without the exception's text; a page that cannot be made, or is the second, is left out."""
    site = Site()

    def broken(_: PageAccess) -> Application:
        raise RuntimeError(SECRET)

    async def scenario() -> None:
        pages = [
            WebPage(prefix="/broken/", make=broken),
            WebPage(prefix="/reports/", make=site.named("first")),
            WebPage(prefix="/reports/", make=site.named("second")),
        ]
        async with gateway(root, tokens, *pages) as served:
            assert (await served.ask("/broken/"))[0] == 404
            assert (await served.ask("/reports/"))[2]["page"] == "first"
            status, _, answer = await served.ask("/reports/fault")
            assert (status, SECRET in str(answer)) == (500, False)

    run(scenario())
    lines = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert lines[0].startswith("making the page at `/broken/` failed with `RuntimeError`")
    assert "two plugins have a page at `/reports/`" in lines[1]
    assert lines[2].startswith("showing the page failed with `RuntimeError`")
    assert SECRET not in "".join(lines)


def test_without_the_dashboard_the_gateway_says_what_installs_it(root: Path, tmp_path: Path, ask: Any) -> None:
    """MCP is served as ever, `/` has nothing, and one line on stderr names the install."""
    without = [sys.executable, "-c", WITHOUT_DASHBOARD]
    with running_gateway(without, "--workspace", str(root), "--tokens", str(tmp_path / "tokens.json")) as gateway:
        status, _, body = ask(f"{gateway.base}/")
    assert (status, body) == (404, '{"error": "there is nothing here: MCP is at /mcp"}')
    assert install_command("octoc-dashboard") in "".join(gateway.log)
