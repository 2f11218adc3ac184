"""Several agents of one gateway, each at its own path only."""

from __future__ import annotations

import contextlib
import http.client
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import attrs
import pytest
from click.testing import CliRunner

from octoc.cli import root as cli
from octoc_serve.admission import may_use
from octoc_serve.paths import is_mcp, named_by, path_of
from octoc_serve.tokens import Tokens

Ask = Callable[..., tuple[int, dict[str, str], str]]
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
NAMES = ["supervisor", "clerk", "developer:rust", "a/b", "ä b", "mcp", "%2f"]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_has_a_path_that_names_it(name: str) -> None:
    """What an address is made of, decoded as servers do, names the agent again."""
    from urllib.parse import unquote

    path = path_of(name)
    assert path.isascii()
    assert path.count("/") == 3
    assert named_by(unquote(path)) == name
    assert is_mcp(unquote(path))


@pytest.mark.parametrize("path", ["/", "/agents", "/agents/", "/agents//mcp", "/agents/x", "/agents/x/mcp/", "/mcp/"])
def test_what_names_nobody_is_no_path_of_mcp(path: str) -> None:
    """An address that is only like one is the page's business."""
    assert not is_mcp(path)


@pytest.fixture
def names_at(ask: Ask, initialize: dict[str, Any]) -> Callable[..., list[str]]:
    """A function that returns the tools which a client of the handshake era lists at a path."""

    def names(gateway: Any, path: str, **headers: str) -> list[str]:
        url = gateway.base + path
        status, answered, body = ask(url, initialize, **headers)
        assert status == 200, body
        session = {"Mcp_Session_Id": answered["mcp-session-id"], "MCP_Protocol_Version": "2025-11-25"}
        _, _, body = ask(url, LIST, **session, **headers)
        return [tool["name"] for tool in json.loads(body)["result"]["tools"]]

    return names


Names = Callable[..., list[str]]
CLERKS = ["plain__echo", "plain__pid"]


def test_each_agent_has_a_path_of_its_own(
    serve: Callable[..., Any], names_at: Names, ask: Ask, initialize: dict[str, Any]
) -> None:
    """Without tokens all are there, `/mcp` is the default's, and a session is good at its own path alone."""
    gateway = serve("--agents", "all")
    assert names_at(gateway, "/agents/clerk/mcp") == CLERKS
    supervisors = names_at(gateway, "/mcp")
    assert "find_tools" in supervisors
    assert names_at(gateway, "/agents/supervisor/mcp") == supervisors
    assert ask(f"{gateway.base}/agents/missing/mcp", initialize)[0] == 404
    _, answered, _ = ask(f"{gateway.base}/agents/supervisor/mcp", initialize)
    session = {"Mcp_Session_Id": answered["mcp-session-id"], "MCP_Protocol_Version": "2025-11-25"}
    assert ask(f"{gateway.base}/agents/clerk/mcp", LIST, **session)[0] == 404
    assert ask(f"{gateway.base}/mcp", LIST, **session)[0] == 200


def test_only_those_named_are_there(serve: Callable[..., Any], ask: Ask, initialize: dict[str, Any]) -> None:
    """An agent that is not named has no path, and `/mcp` has no agent if the default is not named."""
    gateway = serve("--agents", "clerk")
    assert gateway.url.endswith("/agents/clerk/mcp")
    base = gateway.base
    assert ask(f"{base}/agents/clerk/mcp", initialize)[0] == 200
    assert ask(f"{base}/agents/supervisor/mcp", initialize)[0] == 404
    assert ask(f"{base}/mcp", initialize)[0] == 404


def test_two_authorization_headers_are_refused(
    serve: Callable[..., Any], ask: Ask, initialize: dict[str, Any], tmp_path: Path
) -> None:
    """A request with two credentials gets 400, whichever of them is good, and in whichever case they are written."""
    _, clerk = Tokens(tmp_path / "tokens.json").add("clerk")
    gateway = serve("--agents", "clerk")
    good, bad = {"Authorization": f"Bearer {clerk}"}, {"authorization": "Bearer none"}
    assert ask(f"{gateway.base}/mcp", initialize, **good)[0] == 200
    for headers in ({**good, **bad}, {**bad, **good}):
        status, body = _ask_raw(gateway.base, initialize, headers)
        assert (status, json.loads(body)) == (400, {"error": "a request has one `Authorization` header"})


def _ask_raw(base: str, message: dict[str, Any], headers: dict[str, str]) -> tuple[int, str]:
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=60)
    with contextlib.closing(connection):
        body = json.dumps(message).encode()
        connection.putrequest("POST", "/mcp")
        kinds = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        for name, value in {**kinds, "Content-Length": str(len(body)), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_a_token_is_good_for_its_agents_path_alone(
    serve: Callable[..., Any], names_at: Names, ask: Ask, initialize: dict[str, Any], tmp_path: Path
) -> None:
    """At another agent's path a token gets the same answer as at an unknown path, and one of an unserved agent none."""
    tokens = Tokens(tmp_path / "tokens.json")
    _, clerk = tokens.add("clerk")
    _, supervisor = tokens.add("supervisor")
    gateway = serve("--agents", "clerk")
    base = gateway.base
    bearer = {"Authorization": f"Bearer {clerk}"}
    for path in ("/mcp", "/agents/clerk/mcp"):
        assert names_at(gateway, path, **bearer) == CLERKS
    others = [ask(f"{base}/agents/{name}/mcp", initialize, **bearer) for name in ("supervisor", "missing")]
    assert [(status, body) for status, _, body in others] == [(404, others[0][2])] * 2
    for path in ("/mcp", "/agents/supervisor/mcp", "/agents/clerk/mcp", "/agents/missing/mcp"):
        assert ask(base + path, initialize, Authorization=f"Bearer {supervisor}")[0] == 401
        assert ask(base + path, initialize)[0] == 401


@pytest.mark.parametrize("client", ["claude", "cursor", "vscode"])
def test_a_client_gets_a_line_for_each_agent(root: Path, tmp_path: Path, client: str) -> None:
    """Each agent is a server of its own, at its path, with a token of its own."""
    words = ["serve", "--workspace", str(root), "--transport", "http", "--agents", "all", "--tls-cert", "c.pem"]
    tokens = Tokens(tmp_path / "tokens.json")
    tokens.add("clerk")
    done = CliRunner().invoke(cli, [*words, "--tokens", str(tokens.file), "--print-config", client])
    assert done.exit_code == 0, done.output
    whole = json.loads(done.stdout)
    servers = whole["servers" if client == "vscode" else "mcpServers"]
    assert set(servers) == {"octoc-clerk", "octoc-supervisor"}
    assert servers["octoc-clerk"]["url"] == "https://127.0.0.1:8000/agents/clerk/mcp"
    assert len({entry["headers"]["Authorization"] for entry in servers.values()}) == 2
    if client == "vscode":
        asked = {f"Bearer ${{input:{one['id']}}}" for one in whole["inputs"]}
        assert asked == {entry["headers"]["Authorization"] for entry in servers.values()}


@pytest.mark.parametrize(
    "words, said",
    [
        (["--agents", "all"], "--agents is for --transport http"),
        (["--transport", "http", "--agents", " , "], "--agents names no agent"),
        (["--transport", "http", "--agents", "clerk", "--agent", "supervisor"], "is not in --agents"),
        (["--transport", "http", "--agents", "clark"], "`clark`"),
        (["--transport", "http", "--agents", "clark", "--print-config", "claude"], "`clark`"),
    ],
)
def test_what_cannot_be_served_is_refused_at_the_start(root: Path, tmp_path: Path, words: list[str], said: str) -> None:
    """Agents over stdio, no agent, a default outside the list, and an unknown agent."""
    tokens = ["--tokens", str(tmp_path / "none.json")] if "http" in words else []
    done = CliRunner().invoke(cli, ["serve", "--workspace", str(root), *tokens, *words])
    assert done.exit_code != 0
    assert said in done.output
    assert "Traceback" not in done.output


def test_an_agent_of_tenants_is_for_these_alone() -> None:
    """An agent without tenants is for all; any other is unknown to a token of another tenant or of none."""
    from octoc.runtime import AgentEntry

    free = AgentEntry(name="free", kind="octo")
    agents = {"free": free, "acmes": attrs.evolve(free, name="acmes", tenants=("acme", "umbrella"))}
    assert [may_use(agents, "free", tenant) for tenant in (None, "acme", "other")] == [True, True, True]
    assert [may_use(agents, "acmes", tenant) for tenant in (None, "acme", "umbrella", "other")] == [
        False,
        True,
        True,
        False,
    ]
    assert not may_use(agents, "missing", "acme")
