"""Credentials are found by form, holder and place, and what only looks like one is not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from octoc.compiler.resolve.secrets import reference_secrets
from octoc.compiler.structure.servers import server_of_mcp
from octoc.credentials import credentials_in, is_literal_secret
from octoc.credentials.known_tokens import known_tokens
from octoc.diagnostics.model import DiagnosticSink, Place
from octoc.masking import mask_secrets, mask_values

from .tables import HARMLESS, KEYED, READABLE, TOKENS, forms, made_up, paths

SECRETS = {"mixed": "s3cr3t" + made_up(6, 80), **{k: TOKENS[k] for k in ("github", "random", "jwt", "telegram")}}
CASES = {f"{form}-{kind}": case for kind, secret in SECRETS.items() for form, case in forms(secret).items()}


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
def test_a_token_is_found_wherever_it_stands(token: str) -> None:
    """A value of a known form, or random, is a credential in a value, a line and a message."""
    assert is_literal_secret("SOMETHING", token)
    for text in (
        token,
        f'"x": "{token}"',
        f"the value `{token}` is not known",
        f"https://h/{token}/mcp",
        f"x={token}&y",
        f"`mcpServers.{token}.command` is empty",
    ):
        assert token not in mask_secrets(text)
        assert token not in mask_values(text)
        assert len(mask_values(text)) == len(text)


@pytest.mark.parametrize("value", KEYED.values(), ids=KEYED)
@pytest.mark.parametrize("name", ["NOTES_TOKEN", "X-API-Key", "password", "GITHUBTOKEN", "OPENAI_API_KEY"])
def test_a_value_is_a_credential_by_its_holder(name: str, value: str) -> None:
    """Digits, identifiers and words are credentials where something of a credential's name holds them."""
    assert is_literal_secret(name, value)


@pytest.mark.parametrize("kind", ["hex 32", "hex 40", "hex 64", "uuid"])
def test_a_key_by_a_weak_name(kind: str) -> None:
    """A value under `key` is a credential when it looks like one; a digest alone is not."""
    assert is_literal_secret("NOTES_KEY", KEYED[kind])
    assert not is_literal_secret("NOTES_KEY", "primary")
    assert not is_literal_secret("REVISION", KEYED[kind])


@pytest.mark.parametrize("name,value", HARMLESS.values(), ids=HARMLESS)
def test_a_value_is_no_credential_although_its_name_says_so(name: str, value: str) -> None:
    """Placeholders, references and addresses without a password stay, as a variable, a flag and an assignment."""
    sink = DiagnosticSink()
    args = [f"--{name}", value, f"{name}={value}", f"{name}: {value}"]
    source = server_of_mcp("notes", {"command": "x", "args": args, "env": {name: value}}, Place(file=".mcp.json"))
    assert reference_secrets(source, sink) == source


@pytest.mark.parametrize("value", ["hunter2!", *(KEYED[kind] for kind in ("hex 32", "hex 40", "hex 64", "uuid"))])
def test_an_argument_without_a_name_stays_unless_its_form_is_a_credentials(value: str) -> None:
    """An account's id, a digest and a word look like a bare key or password, and the bundle needs them as they are."""
    sink = DiagnosticSink()
    source = server_of_mcp("notes", {"command": "node", "args": ["server.js", "run", value]}, Place(file=".mcp.json"))
    assert reference_secrets(source, sink) == source
    assert sink.diagnostics == ()


@pytest.mark.parametrize("text", READABLE)
def test_what_is_no_credential_stays_readable(text: str) -> None:
    """Names, digests, versions, references and placeholders are shown as they are."""
    assert credentials_in(text) == ()
    assert mask_values(text) == text
    assert mask_secrets(text) == text


@pytest.mark.parametrize("definition,shown", [*CASES.values(), *paths(200).values()], ids=[*CASES, *paths(200)])
def test_no_form_of_a_definition_keeps_its_secret(definition: dict[str, Any], shown: str) -> None:
    """A literal secret becomes a reference, with a finding unless the read stage reports the token."""
    sink = DiagnosticSink()
    source = server_of_mcp("notes", definition, Place(file=".mcp.json"))
    found = reference_secrets(source, sink)
    kept = [found.command, found.args, found.cwd, found.url, found.env, found.headers, found.auth]
    assert shown not in json.dumps([str(one) for one in kept])
    assert {one.rule.code for one in sink.diagnostics} == (
        set() if any(known_tokens(json.dumps(definition))) else {"OCT340"}
    )
    assert "${" in json.dumps([str(one) for one in kept])


@pytest.mark.parametrize("text", READABLE)
def test_a_definition_without_a_secret_is_kept(text: str) -> None:
    """A value without a credential reaches the bundle as it is written, without a finding."""
    sink = DiagnosticSink()
    definition = {"command": "server", "args": [text], "env": {"MODE": text}}
    source = server_of_mcp("notes", definition, Place(file=".mcp.json"))
    assert reference_secrets(source, sink) == source
    assert sink.diagnostics == ()


def test_what_is_around_a_secret_stays() -> None:
    """In an argument only the credential is replaced, with a default's reference as a whole."""
    sink = DiagnosticSink()
    args = [
        "postgres://app:s3cr3tX1@db/app",
        "Authorization: Bearer s3cr3tX2",
        "-c",
        "A_TOKEN=s3cr3tX3 run --port=${P:-1}",
    ]
    definition = {"command": "x", "args": [*args, "postgres://u:${PW:-s3cr3tX4}@db/app"]}
    found = reference_secrets(server_of_mcp("db", definition, Place(file="f")), sink)
    assert found.args == (
        "postgres://app:${DB_PASSWORD}@db/app",
        "Authorization: Bearer ${DB_AUTHORIZATION}",
        "-c",
        "A_TOKEN=${DB_A_TOKEN} run --port=${P:-1}",
        "postgres://u:${PW}@db/app",
    )
