"""Credentials of HTTP servers, against a real authorization server and the MCP server that it guards."""

import asyncio
import base64
import json
import logging
import stat
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import httpx2
import pytest

from octoc.plugin import ConnectFailedError, LoginState, ServerTarget, ToolCall, ToolFailure, ToolResult
from octoc.testing import OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET, OAuthServer, oauth_server
from octoc_transport_mcp import octoc_make_login, octoc_make_transport
from octoc_transport_mcp.auth import auth_for
from octoc_transport_mcp.auth_store import folder


@pytest.fixture
def server() -> Iterator[OAuthServer]:
    """An authorization server with the MCP server that it guards."""
    with oauth_server() as state:
        yield state


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own for logins."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def target_of(server: OAuthServer, auth: Mapping[str, Any] | None, **fields: Any) -> ServerTarget:
    """The target of the guarded server."""
    login = "run `octoc auth login web`"
    return ServerTarget(
        **{"name": "web", "transport": "http", "url": server.url, "auth": auth, "login": login, **fields}
    )


ROBOT = {"type": "client_credentials", "client_id": OAUTH_CLIENT_ID, "client_secret": OAUTH_CLIENT_SECRET}


def browser(address: str) -> None:
    """Open the address as a browser does, in a thread, and follow the way back."""

    def visit() -> None:
        with urllib.request.urlopen(address) as page:  # noqa: S310  # the loopback
            page.read()

    threading.Thread(target=visit, daemon=True).start()


def log_in(target: ServerTarget, show: Callable[[str], object] = browser) -> LoginState:
    """Log in, with `show` for the person at the browser."""
    login = octoc_make_login("http")
    assert login is not None
    return asyncio.run(login.login(target, show, 20.0))


def status(target: ServerTarget) -> str:
    """What is kept of a login."""
    login = octoc_make_login("http")
    assert login is not None
    return login.status(target).state


def call(
    target: ServerTarget, times: int = 1, between: Callable[[], None] | None = None
) -> list[ToolResult | ToolFailure]:
    """Connect, call `echo` so many times, close. `between` runs before each call but the first."""

    async def run() -> list[ToolResult | ToolFailure]:
        transport = octoc_make_transport("http")
        assert transport is not None
        connection = await transport.connect(target)
        outcomes = []
        try:
            for number in range(times):
                if number and between is not None:
                    between()
                outcomes.append(
                    await connection.call(ToolCall(tool="echo", arguments={"words": f"w{number}"}, timeout_s=20))
                )
        finally:
            await connection.close()
        return outcomes

    return asyncio.run(run())


def texts(outcomes: list[ToolResult | ToolFailure]) -> list[str]:
    """The texts of results; a failure's kind."""
    return [outcome.text if isinstance(outcome, ToolResult) else outcome.kind for outcome in outcomes]


def free_port() -> int:
    """A port without a listener."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def oauth(**more: Any) -> dict[str, Any]:
    """An `auth` that comes back to a free port."""
    return {"type": "oauth", "redirect_uri": f"http://localhost:{free_port()}/callback", **more}


def test_a_login_then_calls_unattended(server: OAuthServer, state_home: Path) -> None:
    """A person logs in once, in a browser; later calls need no person."""
    target = target_of(server, oauth())
    assert status(target) == "none"
    state = log_in(target)
    assert (state.state, state.issuer.rstrip("/")) == ("valid", server.base)
    assert status(target) == "valid"
    assert server.grants == ["authorization_code"]
    (client,) = server.registered.values()
    assert client["client_name"] == "octoc"
    assert texts(call(target)) == ["w0"]
    (kept,) = folder().iterdir()
    assert kept.is_relative_to(state_home)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700


def test_without_a_login_nothing_is_sent(server: OAuthServer) -> None:
    """Without a login the connection fails at once, and names the command for it."""
    with pytest.raises(ConnectFailedError, match=r"^there is no login to `web`: run `octoc auth login web`$") as raised:
        call(target_of(server, oauth()))
    assert (raised.value.kind, raised.value.permanent) == ("unauthorized", True)
    assert server.requests == []


def test_a_server_without_auth_of_its_own(server: OAuthServer) -> None:
    """Where a file says nothing of `auth`, the refusal says how to log in, and a login is used once it is there."""
    target = target_of(server, None)
    with pytest.raises(ConnectFailedError, match=r"HTTP 401: run `octoc auth login web`$") as raised:
        call(target)
    assert (raised.value.kind, raised.value.permanent) == ("unauthorized", True)
    assert log_in(target).state == "valid"
    assert texts(call(target)) == ["w0"]


def test_an_expired_token_is_refreshed_before_it_is_sent(server: OAuthServer) -> None:
    """A token whose time is over is never sent: it is refreshed, and what came is kept for the next process."""
    server.lifetime_s = 5.0  # less than the margin before the end
    target = target_of(server, oauth())
    log_in(target)
    assert status(target) == "valid"
    server.lifetime_s = 3600.0
    sent = len(server.requests)
    assert texts(call(target)) == ["w0"]
    assert server.grants == ["authorization_code", "refresh_token"]
    assert all(request.authorization for request in server.requests[sent:] if request.path == "/mcp")
    assert texts(call(target)) == ["w0"]
    assert server.grants == ["authorization_code", "refresh_token"]


def test_a_token_that_is_refused_is_refreshed_within_a_call(server: OAuthServer) -> None:
    """A server that forgets a token before its time costs one refresh, and no failure."""
    target = target_of(server, oauth())
    log_in(target)
    assert texts(call(target, times=3, between=server.expire)) == ["w0", "w1", "w2"]
    assert server.grants == ["authorization_code", "refresh_token", "refresh_token"]


def test_what_another_process_refreshed_is_read(server: OAuthServer) -> None:
    """If another connection has used the refresh token, the newer login is read from its file."""
    target = target_of(server, oauth())
    log_in(target)

    def elsewhere() -> None:
        server.expire()
        thread = threading.Thread(target=lambda: done.append(texts(call(target))))
        thread.start()
        thread.join(120)

    done: list[list[str]] = []
    assert texts(call(target, times=2, between=elsewhere)) == ["w0", "w1"]
    assert done == [["w0"]]
    assert server.grants == ["authorization_code", "refresh_token"]


def test_a_revoked_login(server: OAuthServer) -> None:
    """When the server took everything back, calls fail for want of credentials, and say which command brings them."""
    target = target_of(server, oauth())
    log_in(target)
    first, second = call(target, times=2, between=server.revoke)
    assert isinstance(first, ToolResult)
    assert isinstance(second, ToolFailure)
    assert second.kind == "unauthorized"
    assert second.message == (
        "`web` answered HTTP 401: the login was revoked, or has expired; run `octoc auth login web`"
    )
    with pytest.raises(ConnectFailedError, match="run `octoc auth login web`") as raised:
        call(target)
    assert (raised.value.kind, raised.value.permanent) == ("unauthorized", True)


def test_a_token_endpoint_that_is_down(server: OAuthServer) -> None:
    """A login outlives a failure of its authorization server, and another try may help."""
    target = target_of(server, oauth())
    log_in(target)

    def down() -> None:
        server.expire()
        server.down = True

    _, second = call(target, times=2, between=down)
    assert isinstance(second, ToolFailure)
    assert second.kind == "connection_lost"
    assert "the authorization server of `web` answered HTTP 503" in second.message
    server.down = False
    assert texts(call(target)) == ["w0"]


def test_logging_in_again_mends_a_connection(server: OAuthServer) -> None:
    """A connection that lost its login finds the new one, without being made again."""
    target = target_of(server, oauth())
    log_in(target)

    def again() -> None:
        server.revoke()
        thread = threading.Thread(target=log_in, args=(target,))
        thread.start()
        thread.join(120)

    assert texts(call(target, times=2, between=again)) == ["w0", "w1"]


def test_logout(server: OAuthServer) -> None:
    """After a logout nothing is kept, and calls say how to log in."""
    target = target_of(server, oauth())
    log_in(target)
    login = octoc_make_login("http")
    assert login is not None
    assert (login.logout(target), login.logout(target)) == (True, False)
    assert list(folder().iterdir()) == []
    with pytest.raises(ConnectFailedError, match="run `octoc auth login web`"):
        call(target)


def test_configured_scopes_are_asked_for(server: OAuthServer) -> None:
    """Scopes that a file has win over those that the server names."""
    log_in(target_of(server, oauth(scopes="read write")))
    log_in(target_of(server, oauth(scopes=["one"])))
    log_in(target_of(server, oauth()))
    assert server.scopes == ["read write", "one", "read"]


@pytest.mark.parametrize("configured", [{}, {"scopes": "read profile"}])
def test_a_login_after_insufficient_scope_asks_for_the_named_scope(
    server: OAuthServer, configured: dict[str, str]
) -> None:
    """The login after `insufficient_scope` asks for the named scope besides the earlier ones, also after a refresh."""
    target = target_of(server, oauth(**configured))
    log_in(target)

    def raise_the_bar() -> None:
        server.required_scope = "write admin"

    _, refused = call(target, times=2, between=raise_the_bar)
    assert isinstance(refused, ToolFailure)
    why = "its login lacks the scope `write admin`; run `octoc auth login web`, which asks for it"
    assert (refused.kind, refused.message) == ("unauthorized", f"`web` answered HTTP 403: {why}")
    server.required_scope = ""
    server.expire()
    assert texts(call(target)) == ["w0"]  # refreshed, and the need is not forgotten
    server.required_scope = "write admin"
    log_in(target)
    assert server.scopes[-1] == f"{configured.get('scopes', 'read')} write admin"
    assert texts(call(target)) == ["w0"]
    log_in(target)
    assert server.scopes[-1] == configured.get("scopes", "read")


@pytest.mark.parametrize("challenge", ['error="invalid_token", scope="write"', 'error="insufficient_scope"'])
def test_a_refusal_without_a_scope_changes_no_login(server: OAuthServer, challenge: str) -> None:
    """A 403 that names no lacking scope is not recorded."""
    target = target_of(server, oauth())
    log_in(target)
    (kept,) = folder().iterdir()
    before = kept.read_bytes()
    auth = auth_for(target)
    assert auth is not None

    async def refused() -> None:
        flow = auth.async_auth_flow(httpx2.Request("POST", server.url))
        request = await anext(flow)
        with pytest.raises(StopAsyncIteration):
            await flow.asend(httpx2.Response(403, headers={"www-authenticate": f"Bearer {challenge}"}, request=request))

    asyncio.run(refused())
    assert kept.read_bytes() == before


def test_a_client_that_was_registered_beforehand(server: OAuthServer) -> None:
    """With a `client_id` nothing is registered, in each spelling of it; each id has a login of its own."""
    port = free_port()
    redirect = f"http://localhost:{port}/callback"
    server.registered["acme"] = {"redirect_uris": [redirect]}
    for auth in (
        {"type": "oauth", "client_id": "acme", "redirect_uri": redirect},
        {"type": "oauth", "clientId": "acme", "callbackPort": port},
        {"CLIENT_ID": "acme", "callbackPort": port, "scopes": ["read"]},
    ):
        assert log_in(target_of(server, auth)).state == "valid"
    assert set(server.registered) == {"acme"}
    assert status(target_of(server, oauth())) == "none"


def test_an_answer_with_another_state_is_turned_away(server: OAuthServer) -> None:
    """Who does not know the state that was sent, as another page in the browser, neither logs in nor ends the login."""
    refused: list[int] = []

    def show(address: str) -> None:
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
        back = asked["redirect_uri"][0]

        def visit() -> None:
            for query in ("?code=stolen&state=guess", "?code=stolen", "?error=access_denied&state=", "/other"):
                try:
                    urllib.request.urlopen(back + query)  # noqa: S310  # the loopback
                except urllib.error.HTTPError as error:
                    refused.append(error.code)
                    error.close()
            browser(address)

        threading.Thread(target=visit, daemon=True).start()

    assert log_in(target_of(server, oauth()), show).state == "valid"
    assert refused == [400, 400, 400, 400]


def test_who_declines_and_who_never_answers(server: OAuthServer) -> None:
    """A person who says no, and one who says nothing in time, leave nothing behind."""

    def declines(address: str) -> None:
        asked = urllib.parse.parse_qs(urllib.parse.urlsplit(address).query)
        browser(f"{asked['redirect_uri'][0]}?error=access_denied&state={asked['state'][0]}")

    target = target_of(server, oauth())
    with pytest.raises(ConnectFailedError, match=r"did not allow it: `access_denied`$"):
        log_in(target, declines)
    login = octoc_make_login("http")
    assert login is not None
    with pytest.raises(ConnectFailedError, match=r"^the login to `web` was not completed within 0.5 s$"):
        asyncio.run(login.login(target, lambda _: None, 0.5))
    assert status(target) == "none"


def test_client_credentials(server: OAuthServer) -> None:
    """An id and a secret are traded for a token once, and again when it is refused, without a person."""
    target = target_of(server, ROBOT, secrets=(OAUTH_CLIENT_SECRET,))
    assert texts(call(target, times=3)) == ["w0", "w1", "w2"]
    assert server.grants == ["client_credentials"]
    assert texts(call(target, times=2, between=server.expire)) == ["w0", "w1"]
    assert server.grants == ["client_credentials"] * 3
    assert not folder().exists()


@pytest.mark.parametrize("auth", [ROBOT, {"type": "bearer", "token": "static-token"}, None])
def test_calls_run_side_by_side(server: OAuthServer, auth: Mapping[str, Any] | None) -> None:
    """No call waits for another because of a credential: calls that only end together all end."""
    server.tokens["static-token"] = 1e12
    target = target_of(server, auth or oauth())
    if auth is None:
        log_in(target)

    async def run() -> list[ToolResult | ToolFailure]:
        transport = octoc_make_transport("http")
        assert transport is not None
        connection = await transport.connect(target)
        try:
            together = ToolCall(tool="together", arguments={"count": 5}, timeout_s=20)
            return await asyncio.gather(*(connection.call(together) for _ in range(5)))
        finally:
            await connection.close()

    assert texts(asyncio.run(run())) == ["together"] * 5


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_ways_to_send_the_secret(server: OAuthServer, method: str) -> None:
    """The secret goes in a header or in the form, as configured, and the scopes go with it."""
    target = target_of(server, {**ROBOT, "token_endpoint_auth_method": method, "scopes": "a b", "issuer": server.base})
    assert texts(call(target)) == ["w0"]
    (token,) = [request for request in server.requests if request.path == "/token"]
    assert (token.authorization is not None) == (method == "client_secret_basic")
    assert server.scopes == ["a b"]


def test_the_secret_goes_to_its_issuer_alone(server: OAuthServer) -> None:
    """With an `issuer`, a server that leads to another authorization server does not get the secret there."""
    target = target_of(server, {**ROBOT, "issuer": "https://login.acme.example"}, secrets=(OAUTH_CLIENT_SECRET,))
    with pytest.raises(ConnectFailedError, match="HTTP 401") as raised:
        call(target)
    assert raised.value.kind == "unauthorized"
    assert server.grants == []


def test_a_wrong_secret_is_told_of_without_it(server: OAuthServer, caplog: pytest.LogCaptureFixture) -> None:
    """An authorization server's answer is quoted by its code only, though it echoes the secret; nothing logs it."""
    wrong = "wrong/secret+of:acme"
    server.echo = True
    caplog.set_level(logging.DEBUG)
    target = target_of(server, {**ROBOT, "client_secret": wrong}, secrets=(wrong,), login="look at what `S` holds")
    with pytest.raises(ConnectFailedError) as raised:
        call(target)
    assert str(raised.value) == (
        f"`{server.base}` answered HTTP 401: the authorization server of `web` refused: `invalid_client`, HTTP 401; "
        "look at what `S` holds"
    )
    encoded = base64.b64encode(f"{OAUTH_CLIENT_ID}:{urllib.parse.quote(wrong, safe='')}".encode()).decode()
    for said in (str(raised.value), caplog.text, repr(target)):
        assert not any(form in said for form in (wrong, urllib.parse.quote(wrong, safe=""), encoded))


def test_credentials_stay_with_their_server(server: OAuthServer) -> None:
    """Discovery and the token endpoint get neither the server's headers nor its tokens."""
    target = target_of(server, oauth(), headers={"X-Tenant": "acme"})
    log_in(target)
    call(target, times=2, between=server.expire)
    elsewhere = [request for request in server.requests if request.path != "/mcp"]
    assert {asked.path for asked in elsewhere} >= {"/token", "/register", "/.well-known/oauth-authorization-server"}
    assert {request.authorization for request in elsewhere} == {None}


def test_a_secret_follows_no_redirect(server: OAuthServer) -> None:
    """A token endpoint that redirects to another host is refused, and that host is never asked."""
    with oauth_server() as other:
        server.moved = f"{other.base}/token"
        with pytest.raises(ConnectFailedError) as raised:
            call(target_of(server, ROBOT, secrets=(OAUTH_CLIENT_SECRET,)))
        assert raised.value.kind == "unauthorized"
        assert other.requests == []


def test_a_secret_goes_over_https_alone(server: OAuthServer) -> None:
    """An authorization server at a plain address beyond this machine is not even asked what it is."""
    server.issuer = "http://login.acme.example"
    with pytest.raises(ConnectFailedError, match=r"plain `http` address, `login\.acme\.example`: it takes `https`"):
        call(target_of(server, ROBOT, secrets=(OAUTH_CLIENT_SECRET,)))
    with pytest.raises(ConnectFailedError, match="is at a plain `http` address"):
        log_in(target_of(server, oauth()))


def test_another_origin_gets_no_credential(server: OAuthServer) -> None:
    """A request that is not for the target's own origin is sent as it is."""
    auth = auth_for(target_of(server, {"type": "bearer", "token": "t0ken"}))
    assert auth is not None

    async def signed(url: str) -> str | None:
        flow = auth.async_auth_flow(httpx2.Request("GET", url))
        request = await anext(flow)
        await flow.aclose()
        header: str | None = request.headers.get("authorization")
        return header

    assert asyncio.run(signed(f"{server.base}/other")) == "Bearer t0ken"
    assert asyncio.run(signed("http://127.0.0.1:1/mcp")) is None
    assert asyncio.run(signed(server.url.replace("127.0.0.1", "localhost"))) is None


def test_a_static_bearer(server: OAuthServer) -> None:
    """A token in `auth` is sent as it is; the message of a refused one names the reference that holds it."""
    server.tokens["static-token"] = 1e12
    target = target_of(server, {"type": "bearer", "token": "static-token"}, login="look at what `TOKEN` holds")
    assert texts(call(target)) == ["w0"]
    server.echo = True
    wrong = attrs.evolve(target, auth={"type": "bearer", "token": "wrong-token"}, secrets=("wrong-token",))
    with pytest.raises(ConnectFailedError, match=r"HTTP 401: look at what `TOKEN` holds$") as raised:
        call(wrong)
    assert (raised.value.kind, raised.value.permanent) == ("unauthorized", True)
    assert "wrong-token" not in str(raised.value)


@pytest.mark.parametrize(
    "auth, why",
    [
        ({"type": "mtls"}, "has a `type` that octoc does not know: expected one of bearer, client_credentials, oauth"),
        ({"type": "bearer"}, "has a `token` that is empty, or that no HTTP header can carry"),
        ({"type": "bearer", "token": "a\r\nX: b"}, "has a `token` that is empty, or that no HTTP header can carry"),
        ({"type": "bearer", "token": "a", "user": "b"}, "has `user`, which `bearer` does not take: it takes token"),
        ({"type": "client_credentials", "client_id": "x"}, "needs `client_id` and `client_secret_env`"),
        ({"type": "oauth", "redirect_uri": "https://evil.example/cb"}, "has a `redirect_uri` beyond this machine"),
        ({"type": "oauth", "callbackPort": "9"}, "has a `callbackPort` that is not a port"),
        ({"type": "oauth", "scopes": 3}, "has `scopes` that are neither a text nor a list of texts"),
        ({"type": "oauth", "client_id": 3}, "has a `client_id` that is not a text"),
        (
            {"type": "oauth", "authServerMetadataUrl": "https://x"},
            "has `authServerMetadataUrl`, which `oauth` does not",
        ),
        ({**ROBOT, "token_endpoint_auth_method": "tls"}, "has an unknown `token_endpoint_auth_method`"),
    ],
)
def test_an_auth_that_cannot_be_acted_on(server: OAuthServer, auth: Mapping[str, Any], why: str) -> None:
    """An invalid `auth` is reported before a request is sent; octoc never connects without it."""
    with pytest.raises(ConnectFailedError) as raised:
        call(target_of(server, auth))
    assert f"the `auth` of `web` {why}" in str(raised.value)
    assert raised.value.permanent
    assert server.requests == []


def test_two_credentials_are_one_too_many(server: OAuthServer) -> None:
    """An `auth` beside a header `Authorization` is refused: which of them would be sent is not ours to say."""
    with pytest.raises(ConnectFailedError, match="keep one of them"):
        call(target_of(server, {"type": "bearer", "token": "t"}, headers={"authorization": "Bearer u"}))


def test_kept_files_that_nobody_wrote(server: OAuthServer) -> None:
    """A login's file that is cut, empty, of another version or another server's counts as none."""
    target = target_of(server, oauth())
    log_in(target)
    (kept,) = folder().iterdir()
    whole = json.loads(kept.read_text(encoding="utf-8"))
    for text in ("", "{", "[]", "null", json.dumps({**whole, "version": 2}), json.dumps({**whole, "server": "x"})):
        kept.write_text(text, encoding="utf-8")
        assert status(target) == "none"
    kept.write_text(json.dumps(whole), encoding="utf-8")
    assert status(target) == "valid"
