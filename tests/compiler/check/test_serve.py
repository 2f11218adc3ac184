"""`[serve.oidc]` of octoc.toml: a mistake is reported where it is, and costs the provider that has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from octoc.choices import TokenAlgorithm
from octoc.compiler.inputs.workspace import WORKSPACE

HEAD = '[workspace]\nname = "acme"\n[serve.oidc.acme]\n'
ISSUER = 'issuer = "https://login.acme.example"\n'
AUDIENCES = 'audiences = ["tools"]\n'
ROW = '[[serve.oidc.acme.access]]\nclaims = { groups = "a" }\nagents = ["clerk"]\n'
HS256 = (
    "`HS256` is not a signature that octoc knows: expected `RS256`, `RS384`, `RS512`, `PS256`, `PS384`, `PS512`, "
    "`ES256`, `ES384`, `ES512` or `EdDSA`"
)
SOUND = HEAD + ISSUER + AUDIENCES + ROW


def with_issuer(address: str) -> str:
    """Return a file whose provider has this issuer."""
    return HEAD + f'issuer = "{address}"\n' + AUDIENCES + ROW


UNSOUND = [
    (with_issuer("login"), "OCT204", "`issuer` cannot be used: expected an `https` URL with a host"),
    (with_issuer("ftp://login.example"), "OCT204", "`issuer` cannot be used: expected an `https` URL with a host"),
    (with_issuer("https://[::1"), "OCT204", "`issuer` cannot be used: it is not a URL"),
    (with_issuer("https://a b"), "OCT204", "`issuer` cannot be used: it has spaces or control characters"),
    (
        with_issuer("http://login.example"),
        "OCT204",
        "`issuer` cannot be used: `http` is not safe for `login.example`, which is not this machine",
    ),
    (with_issuer("https://me:pw@login.example"), "OCT204", "`issuer` cannot be used: it has a user name or password"),
    (with_issuer("https://login.example#x"), "OCT204", "`issuer` cannot be used: it has a fragment"),
    (
        HEAD + ISSUER + AUDIENCES + 'jwks_uri = "http://login.example/keys"\n' + ROW,
        "OCT204",
        "`jwks_uri` cannot be used: `http` is not safe for `login.example`, which is not this machine",
    ),
    (
        '[workspace]\nname = "a"\n[serve]\nurl = "https://tools.example/x"\n',
        "OCT204",
        "`url` cannot be used: it has more than scheme and host",
    ),
    (
        HEAD + ISSUER + AUDIENCES + 'algorithms = ["HS256"]\n' + ROW,
        "OCT204",
        HS256,
    ),
    (
        SOUND.replace('{ groups = "a" }', "{}"),
        "OCT207",
        "a row names no claims, so every token of the provider would match it",
    ),
    (
        SOUND + 'tenant = "a"\ntenant_claim = "org"\n',
        "OCT204",
        "a row has both a `tenant` and a `tenant_claim`, expected one of them at most",
    ),
    (SOUND + ROW, "OCT247", "this row has the claims of another one"),
    (
        SOUND + ROW.replace("}", ', org = "x" }') + 'tenant = "x"\n',
        "OCT247",
        "a token can match this row and another one, and their tenants differ",
    ),
    (
        SOUND + "[serve.oidc.again]\n" + ISSUER + AUDIENCES + ROW.replace("acme", "again"),
        "OCT247",
        "providers `acme` and `again` have the same issuer",
    ),
]  # fmt: skip


@pytest.mark.parametrize("text,code,message", UNSOUND)
def test_a_mistake_costs_its_provider(text: str, code: str, message: str, check_text: Callable[..., Any]) -> None:
    """One finding names the mistake, and nothing of the provider stays: with less of it, more tokens could match."""
    checked = check_text(WORKSPACE, text)
    assert [(found.diagnostic.rule.code, found.diagnostic.message) for found in checked.findings] == [(code, message)]
    left = checked.values["serve"].get("oidc", {})
    assert code == "OCT204" or not {"acme", "again"} <= left.keys()


def test_both_places_of_an_overlap_are_shown(check_text: Callable[..., Any]) -> None:
    """The finding is at the later row and names the place of the first."""
    (found,) = check_text(WORKSPACE, SOUND + ROW).findings
    (related,) = found.diagnostic.related
    lines = (SOUND + ROW).splitlines()
    first, second = (number for number, line in enumerate(lines, 1) if line.startswith("[[serve"))
    assert (related.text, related.span.line) == ("the other row is here", first)
    assert found.diagnostic.span.line == second


@pytest.mark.parametrize(
    "more",
    [
        ROW.replace('groups = "a"', 'groups = "b"') + 'tenant = "x"\n',
        ROW.replace("}", ', org = "x" }'),
        ROW.replace('groups = "a"', 'org = "a"') + 'tenant = "x"\n',
    ],
)
def test_rows_that_add_up_or_differ_are_sound(more: str, check_text: Callable[..., Any]) -> None:
    """Other values, more agents for the same tenant, and other claims are not mistakes."""
    assert check_text(WORKSPACE, SOUND + more).findings == ()


@pytest.mark.parametrize("address", ["http://127.0.0.1:8080/realms/a", "http://[::1]:1", "https://a.example/b/"])
def test_loopback_needs_no_tls(address: str, check_text: Callable[..., Any]) -> None:
    """A provider on this machine may speak plain HTTP."""
    assert check_text(WORKSPACE, with_issuer(address)).findings == ()


def test_signatures_with_a_shared_secret_cannot_be_chosen() -> None:
    """The schema allows what the bundle does, and all of it is asymmetric."""
    file = Path(__file__).resolve().parents[3] / "schemas" / "workspace.v1.json"
    schema = json.loads(file.read_text(encoding="utf-8"))
    allowed = schema["$defs"]["oidc"]["properties"]["algorithms"]["items"]["enum"]
    assert tuple(allowed) == get_args(TokenAlgorithm)
    assert {name[:2] for name in allowed} == {"RS", "PS", "ES", "Ed"}
