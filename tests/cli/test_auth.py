"""`octoc auth` from end to end: a person logs in by a script that plays the browser, then agents call unattended."""

import asyncio
import json
import logging
import threading
import time
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from octoc.results import ToolFailure
from octoc.runtime import Runtime
from octoc.testing import OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET, OAuthServer, WorkspaceBuilder, oauth_server

Run = Callable[..., Any]
QUERY_KEY = "key-in-the-query"


@pytest.fixture
def server() -> Iterator[OAuthServer]:
    """An authorization server with the MCP server that it guards."""
    with oauth_server() as state:
        yield state


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser opens; it visits each and follows its redirects."""
    addresses: list[str] = []

    def visit(address: str) -> None:
        with urllib.request.urlopen(address) as page:  # noqa: S310  # the loopback
            page.read()

    def open_(address: str) -> bool:
        addresses.append(address)
        threading.Thread(target=visit, args=(address,), daemon=True).start()
        return True

    monkeypatch.setattr(webbrowser, "open", open_)
    return addresses


@pytest.fixture
def root(tmp_path: Path, server: OAuthServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with guarded servers: one to log in to, one with a key of its own, and one on this machine."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ROBOT_SECRET", OAUTH_CLIENT_SECRET)
    monkeypatch.setenv("QUERY_KEY", QUERY_KEY)
    robot = {"type": "client_credentials", "client_id": OAUTH_CLIENT_ID, "client_secret_env": "ROBOT_SECRET"}
    workspace = (
        WorkspaceBuilder(tmp_path / "acme")
        .server("notes", type="http", url=server.url, auth={"type": "oauth", "scopes": "read"})
        .server("robot", type="http", url=f"{server.url}?key=${{QUERY_KEY}}", auth=robot)
        .server("local", "no-such-command")
    )
    assert workspace.build().bundle is not None
    return workspace.root


def test_log_in_call_log_out(octoc: Run, root: Path, server: OAuthServer, opened: list[str]) -> None:
    """Login, status, a call and logout: no token is ever shown, and each step says what it did."""
    shown: list[str] = []

    def run(*arguments: str) -> Any:
        done = octoc(*arguments, "--workspace", str(root))
        shown.extend((done.out, done.err))
        return done

    refused = run("call", "notes", "echo", '{"words": "hello"}')
    assert refused.status == 1
    assert "run `octoc auth login notes`" in refused.err
    assert run("auth", "status", "notes").status == 1

    done = run("auth", "login", "notes")
    assert (done.status, done.out.split(",")[0]) == (0, "logged in to `notes`")
    assert opened[0] in done.err
    assert run("call", "notes", "echo", '{"words": "hello"}').out == "hello\n"

    (row,) = json.loads(run("auth", "status", "--json").out)
    assert (row["server"], row["state"], row["issuer"].rstrip("/")) == ("notes", "valid", server.base)
    assert row["expires"].startswith(time.strftime("%Y-", time.gmtime(time.time() + server.lifetime_s)))
    assert run("auth", "status", "notes").status == 0

    assert run("auth", "logout", "notes").out == "logged out of `notes`\n"
    assert run("auth", "logout", "notes").out == "there was no login to `notes`\n"
    assert run("call", "notes", "echo", '{"words": "hello"}').status == 1
    secrets = [*server.tokens, *server.refresh_tokens]
    assert secrets
    assert not any(secret in text for secret in secrets for text in shown)


def test_without_a_browser(octoc: Run, root: Path, opened: list[str]) -> None:
    """`--no-browser` only prints the address, and gives up when no login arrives in time."""
    done = octoc("auth", "login", "notes", "--no-browser", "--timeout", "1", "--workspace", str(root))
    assert done.status == 1
    assert "/authorize?" in done.err
    assert "the login to `notes` was not completed within 1 s" in done.err
    assert opened == []


def test_servers_that_have_no_logins(octoc: Run, root: Path) -> None:
    """A server on this machine, one with a key of its own and one that is not there are each told of in a line."""
    for name, why in {
        "local": "server `local` uses transport `stdio`, which has no logins",
        "robot": "the `auth` of `robot` is `client_credentials`, which needs no login",
        "note": "did you mean `notes`",
    }.items():
        done = octoc("auth", "login", name, "--workspace", str(root))
        assert done.status == 1
        assert why in done.err


def test_a_runtime_calls_unattended(root: Path, server: OAuthServer, octoc: Run, opened: list[str]) -> None:
    """A runtime uses logins and client credentials, refreshes and fetches anew, and says when it cannot any more."""
    assert octoc("auth", "login", "notes", "--workspace", str(root)).status == 0
    before = len(opened)

    async def run() -> None:
        async with Runtime.open(root / "dist" / "test.octoc", workspace=root) as runtime:
            for name in ("notes", "robot", "notes", "robot"):
                outcome = await runtime.call_direct(name, "echo", {"words": name})
                assert outcome.ok, outcome
                server.expire()
            server.revoke()
            outcome = await runtime.call_direct("notes", "echo", {"words": "too late"})
            assert isinstance(outcome, ToolFailure)
            assert outcome.kind == "unauthorized"
            assert "run `octoc auth login notes`" in outcome.message

    asyncio.run(run())
    assert len(opened) == before


def test_no_token_shows(
    root: Path, server: OAuthServer, octoc: Run, opened: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Tokens that were got on the way are in no failure, log record or repr, though the server echoes each."""
    assert octoc("auth", "login", "notes", "--workspace", str(root)).status == 0
    assert opened
    caplog.set_level(logging.DEBUG)
    server.echo = True
    seen: list[str] = []
    issued: set[str] = {OAUTH_CLIENT_SECRET, QUERY_KEY}

    async def run() -> None:
        async with Runtime.open(root / "dist" / "test.octoc", workspace=root) as runtime:
            for name in ("notes", "robot"):
                outcome = await runtime.call_direct(name, "echo", {"words": name})
                assert outcome.ok, outcome
                issued.update(server.tokens, server.refresh_tokens)
                session = runtime.session()
                seen.extend((repr(runtime), repr(session), repr(runtime.plugins), repr(runtime.state.shared.connector)))
            server.revoke()
            for name in ("notes", "robot"):
                outcome = await runtime.call_direct(name, "echo", {"words": name})
                seen.append(repr(outcome))

    asyncio.run(run())
    assert "unauthorized" in seen[-2]
    issued.update(server.tokens, server.refresh_tokens)
    assert len(issued) >= 5
    records = [record.getMessage() for record in caplog.records if not record.name.startswith("asyncio")]
    assert not [(text[:80]) for text in (*seen, *records) for secret in issued if secret in text]
