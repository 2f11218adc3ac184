"""`[serve.oidc]` reaches the bundle with agents and tenants that exist; a mistake never opens more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from octoc.bundle.reader import OpenBundle
from octoc.bundle.serve_settings import OidcAccess, OidcProvider, ServeSettings
from octoc.plugin.manager import plugins_of
from octoc.testing import WorkspaceBuilder

SCOPES = """
[tenants.acme]
[tenants.globex]

[areas.acme]
tenant = "acme"
agents = ["clerk"]
"""
PROVIDER = {"issuer": "https://login.acme.example", "audiences": ["tools"]}


def built(root: Path, *rows: dict[str, Any], **provider: Any) -> tuple[ServeSettings, list[tuple[str, str]]]:
    """Return `[serve]` of a bundle whose provider has these rows, and what was found."""
    workspace = WorkspaceBuilder(root).settings("plugins", use=[]).file("scopes/all.toml", SCOPES)
    workspace.server("docs", "docs-mcp").snapshot("docs", ["search"]).agent("clerk", tools=["docs/search"])
    workspace.settings("serve", oidc={"main": {**PROVIDER, "access": list(rows), **provider}})
    outcome = workspace.build(plugins_of())
    assert outcome.bundle is not None
    found = [(one.rule.code, one.message) for one in outcome.diagnostics if one.rule.code in {"OCT350", "OCT362"}]
    with OpenBundle.open(outcome.bundle, "full") as opened:
        return opened.bundle.settings.serve, found


def test_a_sound_provider_is_in_the_bundle(tmp_path: Path) -> None:
    """Every key has its field, and times end in `_s`."""
    row = {"claims": {"a.b": "x"}, "agents": ["clerk"], "tenant": "acme"}
    more = {"algorithms": ["ES256"], "jwks_uri": "https://login.acme.example/k", "scopes": ["mcp"]}
    serve, found = built(tmp_path, row, **more, user_claim="name", require_at_jwt=True, max_lifetime=60, keep_keys=30)
    access = (OidcAccess(claims={"a.b": "x"}, agents=("clerk",), tenant="acme"),)
    assert found == []
    assert serve.closed
    assert serve.oidc == (
        OidcProvider(
            name="main",
            issuer=PROVIDER["issuer"],  # type: ignore[arg-type]  # a text
            audiences=("tools",),
            algorithms=("ES256",),
            jwks_uri="https://login.acme.example/k",
            scopes=("mcp",),
            user_claim="name",
            require_at_jwt=True,
            max_lifetime_s=60.0,
            keep_keys_s=30.0,
            access=access,
        ),
    )


@pytest.mark.parametrize(
    "row,finding",
    [
        (
            {"agents": ["clark"]},
            ("OCT350", "a row of `[serve.oidc]` names agent `clark`, which does not exist"),
        ),
        (
            {"agents": ["clerk"], "tenant": "acne"},
            ("OCT362", "a row of `[serve.oidc]` is for tenant `acne`, which no table defines"),
        ),
        (
            {"agents": ["clerk"], "tenant": "globex"},
            ("OCT350", "agent `clerk` does not exist for tenant `globex`"),
        ),
        ({"agents": ["clerk"]}, ("OCT350", "agent `clerk` does not exist for a row without a tenant")),
    ],
)
def test_a_row_opens_only_what_exists(row: dict[str, Any], finding: tuple[str, str], tmp_path: Path) -> None:
    """A name that does not exist is an error, and its row stays without it: other rows must not match instead."""
    serve, found = built(tmp_path, {"claims": {"org": "x"}, **row})
    assert finding in found
    assert [access.agents for access in serve.oidc[0].access] == [()]


def test_an_unsound_provider_is_left_out_and_tokens_stay_needed(tmp_path: Path) -> None:
    """A claim whose value was cut would make its row match more tokens, so the whole provider goes."""
    serve, _ = built(tmp_path, {"claims": {"org": "x", "groups": 3}, "agents": ["clerk"], "tenant": "acme"})
    assert serve == ServeSettings(closed=True)
