"""`auth` and `oauth` of a server: what is understood, and that a slip costs the server its place."""

import json
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.workspace.build import resolve_workspace
from octoc.testing import WorkspaceBuilder

HTTP = {"type": "http", "url": "https://h.example/mcp"}
REST = {"type": "rest", "url": "https://h.example/tools"}


def _checked(root: Path, entry: dict[str, Any]) -> tuple[list[str], list[tuple[str, str, str | None]]]:
    """Return which servers are left, and what was found but that they are not recorded."""
    builder = WorkspaceBuilder(root, plugins={"use": []})
    builder.file(".mcp.json", json.dumps({"mcpServers": {"docs": entry, "other": {"command": "other-mcp"}}}))
    builder.settings("mcp", files=[".mcp.json"])
    build, diagnostics, _ = resolve_workspace(builder.write())
    assert build is not None
    told = [(found.rule.code, found.message, found.help) for found in diagnostics if found.rule.code != "OCT312"]
    return [server.name for server in build.resolved.servers], told


@pytest.mark.parametrize(
    "entry",
    [
        {**HTTP, "auth": {"type": "bearer", "token": "${TOKEN}"}},
        {**REST, "auth": {"type": "bearer", "token": "${TOKEN}"}},
        {**REST, "auth": {"type": "bearer", "token_env": "TOKEN"}},
        {**HTTP, "auth": {"type": "client_credentials", "client_id": "a", "client_secret_env": "S", "scopes": "r w"}},
        {
            **HTTP,
            "auth": {"type": "client_credentials", "client_id": "a", "client_secret": "${S}", "issuer": "https://i"},
        },
        {**HTTP, "auth": {"type": "oauth", "redirect_uri": "http://localhost:1/cb", "scopes": ["r", "w"]}},
        {**HTTP, "auth": {"CLIENT_ID": "a", "CLIENT_SECRET": "${S}", "scopes": ["r"]}},
        {**HTTP, "oauth": {"clientId": "a", "callbackPort": 9876, "scopes": "read write"}},
        {**HTTP, "oauth": {}},
    ],
)
def test_what_is_understood(tmp_path: Path, entry: dict[str, Any]) -> None:
    """Each spelling of the three kinds is taken as it is."""
    assert _checked(tmp_path, entry) == (["docs", "other"], [])


@pytest.mark.parametrize(
    "entry, code, message, advice",
    [
        (
            {**HTTP, "auth": {"type": "bearer", "tokn": "${T}", "token": "${T}"}},
            "OCT201",
            "unknown key `tokn` in an `auth` of type `bearer`",
            "did you mean `token` or `token_env`?",
        ),
        (
            {**HTTP, "auth": {"type": "oauth", "isuer": "https://login.example"}},
            "OCT201",
            "unknown key `isuer` in an `auth` of type `oauth`",
            "did you mean `issuer`?",
        ),
        (
            {**HTTP, "auth": {"type": "bearer"}},
            "OCT202",
            "the `auth` of server `docs` has no `token` or `token_env`, which type `bearer` needs",
            "add `token` or `token_env`",
        ),
        (
            {**HTTP, "auth": {"type": "client_credentials", "client_id": "a"}},
            "OCT202",
            (
                "the `auth` of server `docs` has no `client_secret` or `client_secret_env`,"
                " which type `client_credentials` needs"
            ),
            "add `client_secret` or `client_secret_env`",
        ),
        (
            {**HTTP, "auth": {"type": "bearer", "token": 7}},
            "OCT203",
            "expected a string for `mcpServers.docs.auth.token`, found a whole number",
            None,
        ),
        (
            {**HTTP, "oauth": {"callbackPort": 70000}},
            "OCT203",
            (
                "expected a port, a whole number from 1 to 65535, for `mcpServers.docs.oauth.callbackPort`,"
                " found a whole number"
            ),
            None,
        ),
        (
            {**HTTP, "auth": {"type": "oauth", "token_endpoint_auth_method": "sk-hunter2hunter2"}},
            "OCT203",
            (
                "expected `none`, `client_secret_basic` or `client_secret_post` for"
                " `mcpServers.docs.auth.token_endpoint_auth_method`, found another text"
            ),
            None,
        ),
    ],
)
def test_a_slip_leaves_the_server_out(
    tmp_path: Path, entry: dict[str, Any], code: str, message: str, advice: str | None
) -> None:
    """A server with a misspelled credential or restriction is left out, so that it is never called without it."""
    servers, told = _checked(tmp_path, entry)
    assert servers == ["other"]
    assert told == [(code, message, advice)]


@pytest.mark.parametrize(
    "entry, message",
    [
        (
            {**HTTP, "auth": {"type": "baerer"}},
            "server `docs` has an `auth` of a `type` that no transport that comes with",
        ),
        ({**REST, "auth": {"type": "oauth"}}, "server `docs` has an `auth` of type `oauth`, which `rest` does not do"),
        (
            {"command": "docs-mcp", "auth": {"type": "bearer"}},
            "server `docs` has `auth`, and no `url` that it could be for",
        ),
    ],
)
def test_what_another_plugin_may_know_is_a_warning(tmp_path: Path, entry: dict[str, Any], message: str) -> None:
    """An `auth` kind that octoc's transports do not support is a warning, and the server stays for a plugin."""
    servers, told = _checked(tmp_path, entry)
    assert servers == ["docs", "other"]
    assert [(code, text.startswith(message)) for code, text, _ in told] == [("OCT446", True)]
