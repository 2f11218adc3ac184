"""Headers of definitions, in every file that may have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from octoc.compiler.checkup.paths import check_paths

Lint = Callable[..., Any]
HEADERS = {"Authorization": "Bearer ${A}", "X-Team": "a", "AUTHORIZATION": "Bearer ${B}"}
ENTRY = {"type": "http", "url": "https://h.example/mcp", "headers": HEADERS}
OCTOMIND = (
    '[[mcp.servers]]\nname = "notes"\ntype = "http"\nurl = "https://h.example/mcp"\ntimeout_seconds = 30\ntools = []\n'
    '[mcp.servers.headers]\nAuthorization = "Bearer {{ENV:A}}"\nAUTHORIZATION = "Bearer {{ENV:B}}"\n'
)
TAP = '[workspace]\nname = "acme"\n\n[[taps]]\nname = "t"\npath = "tap"\n'
PROVIDER = f'# Title: Notes\n# Description: Notes.\n\n[roles.mcp]\nserver_refs = ["notes"]\n\n{OCTOMIND}'
AGENT = (
    "---\nname: clerk\ndescription: d\nmcpServers:\n  - notes:\n      type: http\n      url: https://h.example/mcp\n"
    "      headers:\n        Authorization: Bearer ${A}\n        AUTHORIZATION: Bearer ${B}\n---\nText\n"
)


def _workspace(**sections: Any) -> str:
    return '[workspace]\nname = "acme"\n' + "".join(
        f"\n[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())
        for name, values in sections.items()
    )


FILES: dict[str, dict[str, str]] = {
    "claude": {".mcp.json": json.dumps({"mcpServers": {"notes": ENTRY}})},
    "vscode": {
        "octoc.toml": _workspace(mcp={"files": [".vscode/mcp.json"]}),
        ".vscode/mcp.json": json.dumps({"servers": {"notes": ENTRY}}),
    },
    "cursor": {
        "octoc.toml": _workspace(mcp={"files": [".cursor/mcp.json"]}),
        ".cursor/mcp.json": json.dumps({"mcpServers": {"notes": ENTRY}}),
    },
    "agent": {"octoc.toml": _workspace(agents={"paths": ["agents"]}), "agents/clerk.md": AGENT},
    "provider": {
        "octoc.toml": TAP,
        "tap/capabilities/notes/config.toml": 'triggers = ["take a note"]\n',
        "tap/capabilities/notes/default.toml": PROVIDER,
    },
    "manifest": {
        "octoc.toml": TAP,
        "tap/agents/office/clerk.toml": "# Title: Clerk\n# Description: A clerk.\n\n"
        f'[[roles]]\nname = "clerk"\nsystem = "You help."\n[roles.mcp]\nserver_refs = ["notes"]\n\n{OCTOMIND}',
    },
}


@pytest.mark.parametrize("name", FILES)
def test_two_headers_of_one_name(lint: Lint, name: str) -> None:
    """Names that differ only in case are one error at the second, related to the first."""
    linted = lint(FILES[name])
    (found,) = linted.of("OCT341")
    assert found.severity.name == "ERROR"
    assert linted.text_at(found.span).strip('"') == "AUTHORIZATION"
    assert "`Authorization` and `AUTHORIZATION`" in found.message
    assert [label.text for label in found.related] == ["`Authorization` is here"]
    assert found.help is not None


def test_different_headers_and_disabled_servers(lint: Lint) -> None:
    """Headers with different names are not a finding, and a disabled server is skipped."""
    one = {**ENTRY, "headers": {"Authorization": "Bearer ${A}", "Authorization-Info": "x"}}
    assert lint(servers={"one": one, "off": {**ENTRY, "disabled": True}}).of("OCT341") == []


BEARER = {"Authorization": "Bearer ${A}"}
CREDENTIALS: dict[str, tuple[dict[str, Any], bool]] = {
    "auth and a header": ({"headers": BEARER, "auth": {"type": "bearer", "token": "${B}"}}, True),
    "oauth and a header": ({"headers": {"AUTHORIZATION": "Bearer ${A}"}, "oauth": {"clientId": "c"}}, True),
    "a header": ({"headers": BEARER}, False),
    "oauth": ({"headers": {"Authorization-Info": "x"}, "oauth": {"clientId": "c"}}, False),
    "disabled": ({"headers": BEARER, "oauth": {"clientId": "c"}, "disabled": True}, False),
}


@pytest.mark.parametrize("name", CREDENTIALS)
def test_auth_beside_a_header_authorization(lint: Lint, name: str) -> None:
    """Two credentials of one server are an error at the header, whatever its case."""
    fields, is_wrong = CREDENTIALS[name]
    linted = lint(servers={"notes": {**ENTRY, "headers": {}, **fields}})
    found = linted.of("OCT342")
    assert len(found) == is_wrong
    if found:
        assert found[0].severity.name == "ERROR"
        assert linted.text_at(found[0].span).strip('"').lower() == "authorization"
        assert found[0].message.startswith("server `notes` has both `auth` and a header `A")


def test_one_file_by_itself(tmp_path: Path) -> None:
    """A provider that is checked by itself has the finding too."""
    provider = tmp_path / "notes.toml"
    provider.write_text(PROVIDER, encoding="utf-8")
    checked = check_paths([provider], tmp_path, kind="capability-provider", use_cache=False)
    assert "OCT341" in {found.rule.code for found in checked.diagnostics}
