"""Literal secrets are recognised, and masked in quoted lines without moving a column."""

from __future__ import annotations

import base64
import html
import json
import re
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octoc.credentials import is_literal_secret, is_secret_name
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rules.check import UNKNOWN_TRANSPORT
from octoc.masking import mask_secrets
from octoc.secrets import redact, redact_plain, secret_forms

# Made up here, of the forms that real services use.
GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2"
OPENAI = "sk-" + "proj-Zx81kQ0aPw72LmN4"
RANDOM = "q9Zr7TfLx2Vb8KmWcY4Hn0Pj"


@pytest.mark.parametrize(
    "name, value",
    [
        ("GITHUB_TOKEN", "whatever-it-is"),
        ("Authorization", "Bearer abcdefgh"),
        ("apiKey", "abc123def"),
        ("DB_PASSWORD", "hunter22"),
        ("SOMETHING", GITHUB),
        ("SOMETHING", OPENAI),
        ("SOMETHING", RANDOM),
        ("DATABASE_URL", "postgres://app:pa55@db/app"),
    ],
)
def test_a_literal_secret_is_recognised(name: str, value: str) -> None:
    """A value is a secret by its holder's name, by a known form, by a password in a URL, or by being random."""
    assert is_literal_secret(name, value)


@pytest.mark.parametrize(
    "name, value",
    [
        ("GITHUB_TOKEN", "${GITHUB_TOKEN}"),
        ("GITHUB_TOKEN", "{{ENV:GITHUB_TOKEN}}"),
        ("Authorization", "Bearer ${TOKEN}"),
        ("MAX_TOKENS", "4000"),
        ("TOKEN_LIMIT", "many"),
        ("SECRET_PATH", "/run/secrets/x"),
        ("API_KEY_FILE", "key.pem"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "./creds.json"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "${HOME}/.config/creds.json"),
        ("COOKIES", r"C:\Users\me\cookies.txt"),
        ("--credentials", "./creds.json"),
        ("PATH", "/usr/local/bin:/usr/bin"),
        ("NODE_ENV", "production"),
        ("package", "@modelcontextprotocol/server-filesystem@2026.8.31"),
        ("url", "https://mcp.example.com/v1/streams/events"),
        ("TOKEN", ""),
        ("USE_TOKEN", "true"),
    ],
)
def test_a_value_that_cannot_be_a_secret_is_not_one(name: str, value: str) -> None:
    """References, counts, paths, packages and switches are not secrets."""
    assert not is_literal_secret(name, value)


def test_a_name_is_judged_by_its_words() -> None:
    """`accessKey` is read as a key by its words, and `tokenizer` is not read as a token."""
    assert not is_secret_name("tokenizer")
    assert is_secret_name("accessKey")
    assert is_secret_name("X-Api-Key")


def test_a_quoted_line_shows_no_secret() -> None:
    """A masked line has the same length, the name, and nothing of the value."""
    line = f'    "env": {{"GITHUB_TOKEN": "{GITHUB}", "MODE": "fast"}},'
    masked = mask_secrets(line)
    assert GITHUB not in masked
    assert '"GITHUB_TOKEN"' in masked
    assert '"MODE": "fast"' in masked
    assert len(masked) == len(line)


@pytest.mark.parametrize(
    "line",
    [
        f'"args": ["--token", "{OPENAI}"]',
        f"token = '{RANDOM}'",
        f"--api-key={RANDOM}",
        f"Authorization: Bearer {RANDOM}",
        f'{{"password": "{RANDOM}',
        f"url = postgres://app:{RANDOM}@db/app",
    ],
)
def test_a_secret_is_masked_in_every_notation(line: str) -> None:
    """Flags, headers, URLs and lines that end in the middle of a string show no secret either."""
    masked = mask_secrets(line)
    assert OPENAI not in masked
    assert RANDOM not in masked
    assert len(masked) == len(line)


@given(st.text(max_size=200))
def test_masking_keeps_the_length_of_any_line(line: str) -> None:
    """Whatever a line holds, masking keeps its length, so that columns stay true."""
    assert len(mask_secrets(line)) == len(line)


@given(st.text(alphabet="abcdefghijklmnop /.-", max_size=60))
def test_plain_words_are_no_secret_values(text: str) -> None:
    """Lower-case words, paths and dashes are never taken for random text."""
    assert not is_literal_secret("", text)


@pytest.mark.parametrize(
    "value",
    [
        "Authorization: Bearer abc-def-1",
        "X-Api-Key:abc-def-1",
        "GITHUB_TOKEN=abc-def-1",
        "https://api.example.com/v1?api_key=abc-def-1&page=2",
        f"https://mcp.example.com/s/{RANDOM}/mcp",
        f"https://{GITHUB}@example.com/",
        "Basic dXNlcjpwYXNzd29yZA==",
    ],
)
def test_a_secret_inside_a_longer_value_is_recognised(value: str) -> None:
    """A header's line, a variable's assignment, a URL's query and path are looked into."""
    assert is_literal_secret("", value)


@pytest.mark.parametrize(
    "value",
    [
        "Authorization: Bearer ${TOKEN}",
        "Authorization:${AUTH_HEADER}",
        "GITHUB_TOKEN=$GITHUB_TOKEN",
        "secrets:read",
        "token",
        "https://api.example.com/v1?page=2&token=",
        "https://api.example.com/v1?max_tokens=200",
    ],
)
def test_a_longer_value_that_only_refers_to_a_secret_is_none(value: str) -> None:
    """References to variables, scopes and counts inside a longer value are not secrets."""
    assert not is_literal_secret("", value)


@pytest.mark.parametrize(
    "line",
    [
        '"NOTES_TOKEN" "hunter2"',
        '"NOTES_TOKEN": ["hunter2"],',
        '"NOTES_TOKEN": {"x": "hunter2"},',
        '"headers": "Authorization: Bearer hunter2", "h": {',
        '"URL": "https://h/x?token=hunter2"',
        '["--api-key", "hunter2"]',
        '"args": "--api-key hunter2",',
    ],
)
def test_a_secret_is_masked_in_a_line_with_a_mistake(line: str) -> None:
    """A missing colon, a list or text where an object belongs: the line is quoted for it, and shows nothing."""
    masked = mask_secrets(line)
    assert "hunter2" not in masked
    assert len(masked) == len(line)


def test_a_secret_whose_name_is_on_the_line_above_is_masked() -> None:
    """Each argument has a line of its own in most files: the flag before says what this one is."""
    assert mask_secrets('    "hunter2",', '    "--api-key",') == '    "*******",'
    assert mask_secrets('    "hunter2",', '    "--colour",') == '    "hunter2",'


@given(st.text(max_size=80), st.text(max_size=80))
def test_masking_with_the_line_above_keeps_the_length(line: str, above: str) -> None:
    """What stands above a line moves no column in it."""
    assert len(mask_secrets(line, above)) == len(line)


def test_a_message_shows_no_secret() -> None:
    """A value that a message quotes is masked when it is one anywhere; names stay readable."""
    sink = DiagnosticSink()
    sink.report(UNKNOWN_TRANSPORT, f"unknown `{OPENAI}`", notes=(f"https://a:b1c2@h, {RANDOM}",), help="token: x")
    (found,) = sink.diagnostics
    assert OPENAI not in found.message
    assert "b1c2" not in found.notes[0]
    assert RANDOM not in found.notes[0]
    assert found.help == "token: x"


SPECIAL = st.text(st.characters(codec="utf-8", exclude_characters="*"), min_size=4, max_size=40).filter(
    # What is still four characters where white space is worth nothing.
    lambda value: len(" ".join(value.split())) >= 4
)


def derived(value: str, user: str) -> list[str]:
    """What others make of a secret before they send it back."""
    raw = value.encode()
    return [
        value,
        quote(value, safe=""),
        quote_plus(value),
        re.sub("%..", lambda match: match[0].lower(), quote(value, safe="")),
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps({"said": value})),
        html.escape(value),
        repr(value)[1:-1],
        " ".join(value.split()),
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
        base64.b64encode(f"{user}:{value}".encode()).decode(),
        base64.urlsafe_b64encode(f"{user}:{value}:more".encode()).decode(),
    ]


@given(SPECIAL, st.text(st.characters(codec="utf-8"), max_size=5), st.integers(min_value=0))
def test_no_form_of_a_secret_stays(value: str, user: str, which: int) -> None:
    """A secret is cut out as it is, encoded for URLs, HTML and JSON, on one line, and inside of base64."""
    forms = derived(value, user)
    form = forms[which % len(forms)]
    said = redact(f"it said «{form}» and ended", [value])
    assert form not in said
    assert said.startswith("it said «")
    assert said.endswith("» and ended")
    assert not any(one in said for one in secret_forms([value]))


@given(st.lists(SPECIAL, max_size=4), st.text())
def test_redaction_is_done_once(values: list[str], text: str) -> None:
    """What was cut is not cut again, the order of secrets says nothing, and without secrets nothing is cut."""
    said = redact(text + "".join(values), values)
    assert redact(said, values) == said
    assert redact(text, []) == text
    assert redact(text, ["a", "abc", ""]) == text


def test_lines_of_a_secret() -> None:
    """Each longer line of a key is cut out by itself, as it stands in the last line of what a server wrote."""
    key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0B\nend\n-----END PRIVATE KEY-----\n"
    assert redact("bad line MIIEvQIBADANBg in key, near the end", [key]) == "bad line *** in key, near the end"
    assert redact(key.strip(), [key]) == "***"


def test_a_secret_within_another() -> None:
    """The longer of two goes first, so that no end of it is left standing."""
    assert redact("token-and-more token", ["token", "token-and-more"]) == "*** ***"


def test_plain_values() -> None:
    """Texts of a JSON value and its keys are cut; numbers stay, and what is nested without end becomes a mark."""
    value = {"hunter2": ["a hunter2", 2, None, {"x": ("hunter2",)}]}
    assert redact_plain(value, ["hunter2"]) == {"***": ["a ***", 2, None, {"x": ["***"]}]}
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "***" in json.dumps(redact_plain(deep, ["hunter2"]))
